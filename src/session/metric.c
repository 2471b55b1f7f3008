/* Selects metrics by name. */
#include "session/metric.h"

#include <string.h>

#include "base/abbreviation.h"
#include "base/nearest.h"

static struct error *no_metric(const struct profile *profile, struct str name)
{
	struct str source = profile_string(profile, profile->source);
	struct nearest n;

	nearest_init(&n, name);
	for (size_t m = 0; m < profile->metric_count; m++)
		nearest_offer(&n, profile_string(profile, profile->metrics[m].name));
	if (n.best.size == 0)
		n.best = profile_string(profile, profile->metrics[profile->default_metric.i].name);
	return error_new(ERROR_USAGE, "--metric: %.*s has no '%.*s'; did you mean '%.*s'?",
		STR_ARG(source.size ? source : STR("the file")), STR_ARG(name), STR_ARG(n.best));
}

/* The metric that is meant.  *all: NULL, or set if it is the word for all of them. */
static struct error *find(
	const struct profile *profile, struct str name, metric_id *metric, bool *all)
{
	struct abbreviation a;
	struct error *err = NULL;

	abbreviation_init(&a, name);
	for (uint32_t m = 0; m < profile->metric_count; m++)
		if (abbreviation_offer(&a, profile_string(profile, profile->metrics[m].name)))
			*metric = (metric_id){m};
	if (all)
		*all = abbreviation_offer(&a, STR("all"));
	if (abbreviation_is_ambiguous(&a))
		err = error_new(ERROR_USAGE, "--metric: ambiguous '%.*s': it may be %s",
			STR_ARG(name), a.names.data);
	else if (!abbreviation_found(&a))
		err = no_metric(profile, name);
	abbreviation_deinit(&a);
	return err;
}

struct error *metric_choose(const struct profile *profile, const char *name, metric_id *metric)
{
	if (name)
		return find(profile, str_from(name), metric, NULL);
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

		err = find(profile, (struct str){names, size}, &metric, NULL);
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

	bool all = false;
	struct error *err = NULL;

	/* The name of a metric in a file can be anything, including commas. */
	if (names == NULL || profile_find_metric(profile, str_from(names), &metric)) {
		add(list, metric);
		return NULL;
	}
	if (strchr(names, ','))
		return add_names(profile, names, list);
	err = find(profile, str_from(names), &metric, &all);
	if (err)
		return err;
	add(list, all ? profile->default_metric : metric);
	for (uint32_t m = 0; m < profile->metric_count && all; m++)
		add(list, (metric_id){m});
	return NULL;
}
