/* Selects metrics by name. */
#include "session/metric.h"

#include <string.h>

#include "base/nearest.h"

static struct error *find(const struct profile *profile, struct str name, metric_id *metric)
{
	struct str source = profile_string(profile, profile->source);
	struct nearest n;

	if (profile_find_metric(profile, name, metric))
		return NULL;
	nearest_init(&n, name);
	for (size_t m = 0; m < profile->metric_count; m++)
		nearest_offer(&n, profile_string(profile, profile->metrics[m].name));
	if (n.best.size == 0)
		n.best = profile_string(profile, profile->metrics[profile->default_metric.i].name);
	return error_new(ERROR_USAGE, "--metric: %.*s has no '%.*s'; did you mean '%.*s'?",
		STR_ARG(source.size ? source : STR("the file")), STR_ARG(name), STR_ARG(n.best));
}

struct error *metric_choose(const struct profile *profile, const char *name, metric_id *metric)
{
	if (name)
		return find(profile, str_from(name), metric);
	*metric = profile->default_metric;
	return NULL;
}

static void add(struct metric_list *list, metric_id metric)
{
	for (size_t i = 0; i < list->ids.count; i++)
		if (list->ids.data[i].i == metric.i)
			return;
	vec_push(&list->ids, metric);
}

static struct error *add_names(
	const struct profile *profile, const char *names, struct metric_list *list)
{
	struct error *err = NULL;

	for (bool more = true; more && err == NULL;) {
		size_t size = strcspn(names, ",");
		metric_id metric;

		err = find(profile, (struct str){names, size}, &metric);
		if (err == NULL)
			add(list, metric);
		more = names[size] == ',';
		names += size + more;
	}
	return err;
}

struct error *metric_list_choose(
	const struct profile *profile, const char *names, struct metric_list *list)
{
	metric_id metric = profile->default_metric;

	/* The name of a metric in a file can be anything, including commas. */
	if (names == NULL || profile_find_metric(profile, str_from(names), &metric)) {
		add(list, metric);
		return NULL;
	}
	if (strcmp(names, "all") != 0)
		return add_names(profile, names, list);
	add(list, metric);
	for (uint32_t m = 0; m < profile->metric_count; m++)
		add(list, (metric_id){m});
	return NULL;
}
