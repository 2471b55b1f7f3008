/*
 * Two sides of recordings, and questions about their difference.
 *
 * Runs of a side are summed, and the difference is a profile with three metrics for each
 * (model/merge.h), so that filters, levels, collapsing and views are those of every report.
 */
#include "session/comparison.h"

#include <stdlib.h>

#include "analysis/certificate.h"
#include "base/alloc.h"
#include "base/vec.h"
#include "model/merge.h"
#include "view/views.h"

struct comparison {
	struct arena *arena;
	const struct profile *old_profile, *new_profile;
	struct profile *own_old, *own_new; /* the same, to be freed; NULL: they are borrowed */
	struct profile *difference;
	bool normalize;
	size_t old_runs, new_runs;
	VEC(const char *) remarks; /* on files that are not fit as evidence */
	struct difference drawn;   /* what reports of the last question refer to */
};

static struct error *read_side(const struct question *question, const struct read_options *input,
	const char *path, struct profile **profile)
{
	struct error *err = profile_read_with(path, input, profile);
	struct profile *rooted;

	if (err || question->roots == ROOTS_NONE)
		return err;
	err = question_roots(question, *profile, &rooted);
	if (err)
		return err;
	profile_destroy(*profile);
	*profile = rooted;
	return NULL;
}

/* A recording that is unfit as evidence cannot be checked against a bound. */
static struct error *judge(struct comparison *c, const struct comparison_sides *sides,
	const char *path, const struct profile *profile)
{
	struct certificate certificate = certificate_of(profile);

	if (certificate_is_fit(&certificate))
		return NULL;
	const char *text = certificate_text(&certificate, c->arena);

	if (sides->refuses_unfit)
		return error_new(ERROR_UNSUPPORTED,
			"--fail-over: %s is not fit as evidence: %s; --unfit-ok takes it as it is",
			path, text);
	vec_push(&c->remarks, arena_printf(c->arena, "%s is not fit as evidence: %s", path, text));
	return NULL;
}

/* Reads the runs of a side. */
static struct error *read_runs(struct comparison *c, const struct comparison_sides *sides,
	const struct question *question, const struct comparison_side *side, struct profile **runs)
{
	struct error *err = NULL;

	for (size_t k = 0; k < side->count && err == NULL; k++) {
		err = read_side(question, &sides->input, side->paths[k], &runs[k]);
		if (err == NULL)
			err = judge(c, sides, side->paths[k], runs[k]);
	}
	return err;
}

/* Sums a side's runs, and if there are several, adds the figures of each; frees them. */
static struct error *join_runs(
	struct profile **runs, size_t count, struct str metric, size_t most, struct profile **side)
{
	if (most > 1)
		return profile_merge_runs(
			(const struct profile *const *)runs, count, metric, most, side);
	*side = runs[0];
	runs[0] = NULL;
	return NULL;
}

static struct error *check_views(const struct question *question)
{
	for (size_t i = 0; i < question->query_count; i++) {
		const struct view *view = question->queries[i].view;

		if (view == &view_stats || view == &view_heat)
			return error_new(ERROR_USAGE,
				"--view %s is of one recording; see `sonde report --view %s` "
				"of each",
				view->name, view->name);
	}
	return NULL;
}

static void destroy_runs(struct profile **runs)
{
	for (size_t k = 0; k < DIFFERENCE_RUNS_MAX; k++)
		profile_destroy(runs[k]);
}

static struct error *subtract(struct comparison *c, struct str metric)
{
	return profile_difference_of_shares(
		c->old_profile, c->new_profile, c->normalize ? metric : STR(""), &c->difference);
}

/* Joins the runs that were read, and makes the difference; runs and shares are of that metric. */
static struct error *join_sides(struct comparison *c, struct profile **old_runs,
	struct profile **new_runs, struct str metric)
{
	size_t most = c->old_runs > c->new_runs ? c->old_runs : c->new_runs;
	struct error *err = join_runs(old_runs, c->old_runs, metric, most, &c->own_old);

	if (err == NULL)
		err = join_runs(new_runs, c->new_runs, metric, most, &c->own_new);
	if (err)
		return err;
	c->old_profile = c->own_old;
	c->new_profile = c->own_new;
	return subtract(c, metric);
}

struct error *comparison_open(const struct comparison_sides *sides, const struct question *question,
	struct comparison **comparison)
{
	struct profile *old_runs[DIFFERENCE_RUNS_MAX] = {NULL};
	struct profile *new_runs[DIFFERENCE_RUNS_MAX] = {NULL};
	struct comparison *c = xcalloc(1, sizeof(*c));
	struct error *err = check_views(question);

	c->arena = arena_create();
	c->normalize = sides->normalize;
	c->old_runs = sides->old_side.count;
	c->new_runs = sides->new_side.count;
	if (err == NULL)
		err = read_runs(c, sides, question, &sides->old_side, old_runs);
	if (err == NULL)
		err = read_runs(c, sides, question, &sides->new_side, new_runs);
	if (err == NULL)
		err = join_sides(c, old_runs, new_runs,
			arena_str(c->arena, question_metric_name(question, new_runs[0])));
	destroy_runs(old_runs);
	destroy_runs(new_runs);
	if (err)
		comparison_close(c);
	else
		*comparison = c;
	return err;
}

/* Remarks on a profile that is unfit as evidence. */
static void judge_open(struct comparison *c, const struct profile *profile)
{
	static const struct comparison_sides lenient;

	error_destroy(judge(c, &lenient, profile_string(profile, profile->source).data, profile));
}

struct error *comparison_of(const struct profile *old_profile, const struct profile *new_profile,
	bool normalize, const struct question *question, struct comparison **comparison)
{
	struct comparison *c = xcalloc(1, sizeof(*c));
	struct error *err = check_views(question);

	*c = (struct comparison){.arena = arena_create(),
		.old_profile = old_profile,
		.new_profile = new_profile,
		.normalize = normalize,
		.old_runs = 1,
		.new_runs = 1};
	judge_open(c, old_profile);
	judge_open(c, new_profile);
	if (err == NULL)
		err = subtract(c, arena_str(c->arena, question_metric_name(question, new_profile)));
	if (err)
		comparison_close(c);
	else
		*comparison = c;
	return err;
}

void comparison_close(struct comparison *c)
{
	if (c == NULL)
		return;
	profile_destroy(c->own_old);
	profile_destroy(c->own_new);
	profile_destroy(c->difference);
	vec_deinit(&c->remarks);
	arena_destroy(c->arena);
	free(c);
}

/* Chooses a metric of both files, not one that is already old or new. */
static struct error *choose_metric(
	const struct comparison *c, struct question *question, metric_id *metric)
{
	struct metric_list metrics = {0};
	struct error *err = question_metrics(question, c->difference, &metrics);

	if (err == NULL && metrics.ids.count != 1)
		err = error_new(ERROR_USAGE, "--metric: a difference is shown of one metric");
	if (err == NULL)
		metric->i = question->queries[0].metric.i / DIFFERENCE_METRICS * DIFFERENCE_METRICS;
	vec_deinit(&metrics.ids);
	return err;
}

/* Checks that the shares are of the chosen metric, and that it has weight. */
static struct error *check_shares(const struct profile *difference, metric_id metric)
{
	struct str name = profile_string(difference, difference->metrics[metric.i].name);
	char *wanted = xasprintf("%.*s (share)", STR_ARG(name));
	metric_id share;
	bool is_there = profile_find_metric(difference, str_from(wanted), &share);

	free(wanted);
	return is_there ? NULL
			: error_new(ERROR_USAGE,
				  "--normalize: expected the name of a metric of the files, as "
				  "--metric %.*s",
				  STR_ARG(name));
}

struct error *comparison_ask(
	struct comparison *c, struct question *question, struct answer **answer)
{
	metric_id metric;
	struct error *err = check_views(question);

	if (err == NULL)
		err = choose_metric(c, question, &metric);
	if (err == NULL && c->normalize)
		err = check_shares(c->difference, metric);
	if (err)
		return err;
	difference_init(
		&c->drawn, c->difference, c->old_profile, c->new_profile, metric, c->normalize);
	if (c->old_runs + c->new_runs > 2)
		difference_add_runs(&c->drawn, c->difference, c->old_runs, c->new_runs);
	for (size_t i = 0; i < question->query_count; i++) {
		difference_ask(&c->drawn, &question->queries[i]);
		question->queries[i].remarks = c->remarks.data;
		question->queries[i].remark_count = c->remarks.count;
	}
	return answer_create(question, c->difference, answer);
}
