#ifndef SONDE_SESSION_METRIC_H
#define SONDE_SESSION_METRIC_H

#include "base/vec.h"
#include "model/profile.h"

/*
 * What --metric NAME chooses; NULL: the profile's default.  ERROR_USAGE with the nearest name if
 * there is none of that name.
 */
must_use struct error *metric_choose(
	const struct profile *profile, const char *name, metric_id *metric);

struct metric_list {
	VEC(metric_id) ids; /* none twice */
};

/*
 * The same for a list with commas, or "all": the default one first, then the others as the file has
 * them.  *list is to be freed with vec_deinit, also on failure.
 */
must_use struct error *metric_list_choose(
	const struct profile *profile, const char *names, struct metric_list *list);

#endif
