#ifndef SONDE_SESSION_METRIC_H
#define SONDE_SESSION_METRIC_H

#include "base/vec.h"
#include "model/profile.h"

/*
 * The metric that --metric NAME selects; NULL: the profile's default.  ERROR_USAGE, with the
 * nearest name, if there is no such metric.
 */
must_use struct error *metric_choose(
	const struct profile *profile, const char *name, metric_id *metric);

struct metric_list {
	VEC(metric_id) ids; /* without duplicates */
};

/*
 * The same for a comma-separated list, or "all": the default metric first, then the others in file
 * order.  The caller frees *list with vec_deinit, also on failure.
 */
must_use struct error *metric_list_choose(
	const struct profile *profile, const char *names, struct metric_list *list);

#endif
