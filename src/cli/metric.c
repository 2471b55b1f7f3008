/*
 * The choice of a metric by its name.
 */
#include "cli/metric.h"

#include "base/nearest.h"

struct error *metric_choose(const struct profile *profile, const char *name, metric_id *metric)
{
	struct nearest n;

	if (name && profile_find_metric(profile, str_from(name), metric))
		return NULL;
	if (name == NULL) {
		*metric = profile->default_metric;
		return NULL;
	}
	nearest_init(&n, str_from(name));
	for (size_t m = 0; m < profile->metric_count; m++)
		nearest_offer(&n, profile_string(profile, profile->metrics[m].name));
	if (n.best.size == 0)
		n.best = profile_string(profile, profile->metrics[profile->default_metric.i].name);
	return error_new(ERROR_USAGE, "--metric: the file has no '%s'; did you mean '%.*s'?", name,
		STR_ARG(n.best));
}
