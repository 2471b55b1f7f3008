#ifndef SONDE_CLI_RECORD_OPTIONS_H
#define SONDE_CLI_RECORD_OPTIONS_H

/* The options of a recording, shared by the commands that make one. */

#include "cli/command.h"
#include "cli/options.h"
#include "cli/record_session.h"

extern const struct option_row record_option_rows[];
/* Of a recording that is not shown at once, as views have their own. */
extern const struct option_row record_alone_rows[];

/* What holds without any option; command is to be set. */
struct record_request record_request_default(void);
/* The operands are the command.  ERROR_USAGE if it is not clear what to record. */
must_use struct error *record_request_target(
	struct record_request *request, const struct operands *operands);
/* For options_parse; context is a struct record_request. */
must_use struct error *record_options_set(void *context, int id, const char *value);

#endif
