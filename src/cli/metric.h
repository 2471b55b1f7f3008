#ifndef SONDE_CLI_METRIC_H
#define SONDE_CLI_METRIC_H

#include "model/profile.h"

/*
 * What --metric NAME chooses; NULL: the profile's default.  ERROR_USAGE with the nearest name if
 * there is none of that name.
 */
must_use struct error *metric_choose(
	const struct profile *profile, const char *name, metric_id *metric);

#endif
