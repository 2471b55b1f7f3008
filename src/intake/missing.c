/* In place of intake.c, where sonde was built without libmicrohttpd. */
#include "intake/intake.h"

struct error *intake_start(const struct intake_options *options, struct intake **intake)
{
	(void)options;
	(void)intake;
	return error_new(ERROR_UNSUPPORTED,
		"taking profiles over HTTP: this sonde was built without libmicrohttpd");
}

void intake_stop(struct intake *intake)
{
	(void)intake;
}

const char *intake_address(const struct intake *intake)
{
	(void)intake;
	return "";
}
