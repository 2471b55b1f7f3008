/*
 * Turns a profile and queries into reports, all in one arena; queries that need the same entity
 * tree share it.  A remark reports weight that is kept but in no row.
 */
#include "session/answer.h"

#include <assert.h>
#include <string.h>

#include "analysis/certificate.h"
#include "analysis/confidence.h"
#include "analysis/zones.h"
#include "base/alloc.h"
#include "session/subject.h"
#include "view/views.h"

/* Whether b can use the entity tree that was made for a. */
static bool shares_tree(const struct report_query *a, const struct report_query *b)
{
	return a->level == b->level && a->invert == b->invert &&
	       (!report_wants_sums(a) || report_wants_sums(b)) &&
	       a->view->joins_metrics == b->view->joins_metrics &&
	       a->view->adds_entries == b->view->adds_entries && a->metric.i == b->metric.i;
}

/* Finds the functions of --center in the query's tree. */
static struct error *find_centre(
	struct report_query *query, const struct entity_tree *tree, struct arena *arena)
{
	struct error *err;

	if (query->center == NULL)
		return NULL;
	err = centre_find(tree, query->level, str_from(query->center), arena, &query->centre);
	return err ? error_prefix(err, "--center") : NULL;
}

static void add_remark(struct report_query *query, const char *remark, struct arena *arena)
{
	const char **remarks = ARENA_ARRAY(arena, const char *, query->remark_count + 1);

	if (query->remark_count)
		memcpy(remarks, query->remarks, query->remark_count * sizeof(*remarks));
	remarks[query->remark_count++] = remark;
	query->remarks = remarks;
}

/* "19.0% of the total" or, if shares have no meaning, "some weight". */
static const char *share_text(const struct entity_tree *tree, int64_t weight, struct arena *arena)
{
	if (tree->has_negative || weight < 0 || tree->total <= 0)
		return "some weight";
	return arena_printf(
		arena, "%.1f%% of the total", 100.0 * (double)weight / (double)tree->total);
}

/* Reports weight that is kept but in no row: nothing is lost silently. */
static void remark_rowless(
	struct report_query *query, const struct entity_tree *tree, struct arena *arena)
{
	const struct view *view = query->view;
	int64_t frameless = entity_tree_weight(tree, 0);

	if (view->entity == NULL || query->listing)
		return;
	if (frameless != 0)
		add_remark(query,
			arena_printf(arena, "%s is in no row: no frame of its stacks is shown",
				share_text(tree, frameless, arena)),
			arena);
	if (tree->spontaneous != 0 && (view->is_tree || view->part_count > 0))
		add_remark(query,
			arena_printf(arena,
				"%s is in no row: --when charges it to <spontaneous>, which "
				"--view deep shows",
				share_text(tree, tree->spontaneous, arena)),
			arena);
}

/* Statistics report whether the recording is fit as evidence. */
static void remark_unfit(
	struct report_query *query, const struct profile *profile, struct arena *arena)
{
	struct certificate c = certificate_of(profile);

	if (query->view == &view_stats && !certificate_is_fit(&c))
		add_remark(query,
			arena_printf(arena, "not fit as evidence: %s", certificate_text(&c, arena)),
			arena);
}

/*
 * A function's name without the leading dot names a module, and then matches nothing; nor does a
 * module's name without its ending.
 */
static void remark_mistaken(
	struct report_query *query, const struct selection *selection, struct arena *arena)
{
	for (size_t i = 0; i < selection->step_count; i++) {
		const struct filter *f = selection->steps[i].filter;
		struct when_mistake m;

		if (f->kind != FILTER_WHEN ||
			!when_mistaken_module(f->when, selection->profile, arena, &m))
			continue;
		add_remark(query,
			m.function ? arena_printf(arena,
					     "--when: no module is called %s; the function of that "
					     "name is %s",
					     m.name, m.function)
				   : arena_printf(arena,
					     "--when: no module is called %s; did you mean %s?",
					     m.name, m.module),
			arena);
	}
}

/* "12.3%", "less than 0.1%". */
static const char *percent_text(int64_t weight, int64_t base, struct arena *arena)
{
	double percent = base ? 100.0 * (double)weight / (double)base : 100;

	return percent < 0.05 ? "less than 0.1%" : arena_printf(arena, "%.1f%%", percent);
}

/* Tick filters leave out weight outside all ticks, which this reports. */
static void remark_outside(
	struct report_query *query, const struct selection *selection, struct arena *arena)
{
	uint32_t metric = query->metric.i;

	for (size_t i = 0; i < selection->step_count; i++) {
		const struct selection_step *step = &selection->steps[i];
		int64_t before = i > 0 ? selection->steps[i - 1].kept[metric]
				       : selection->profile->total[metric];

		if (step->outside == NULL || step->outside[metric] == 0)
			continue;
		add_remark(query,
			arena_printf(arena,
				"%s of %.*s was outside of every tick, and is left out by "
				"--%s",
				percent_text(step->outside[metric], before, arena),
				STR_ARG(profile_string(selection->profile,
					selection->profile->metrics[metric].name)),
				filter_names[step->filter->kind]),
			arena);
	}
}

/* If patterns gave up, it is unknown which functions they would have merged. */
static struct error *same_refusal(const struct report_query *query)
{
	struct error *err = NULL;

	for (size_t i = 0; i < query->same_count && !err; i++)
		err = name_pattern_refusal(query->same[i].pattern);
	return err;
}

/* What a view shows of the selection. */
static const struct selection *selection_for(
	struct report_query *query, const struct selection *selection, struct arena *arena)
{
	struct zones_frameless *frameless;

	if (query->view != &view_zones)
		return selection;
	frameless = ARENA_NEW(arena, struct zones_frameless);
	selection = zones_without_frameless(selection, arena, frameless);
	query->frameless = frameless->threads ? frameless : NULL;
	return selection;
}

/* Brief answers have margins wherever they are possible. */
static bool brief_has_margins(const struct report_query *query, const struct profile *profile)
{
	if (!query->budget || query->difference || query->listing || !view_has_margins(query->view))
		return false;
	struct error *err = confidence_check(profile, query->metric);
	bool has = err == NULL;

	error_destroy(err);
	return has;
}

static struct error *make_reports(const struct selection *filtered,
	const struct brief_subject *subject, const struct question *question,
	struct kept_trees *kept, struct answer *a)
{
	const struct report_query *queries = question->queries;
	size_t count = question->query_count;
	struct arena *arena = a->arena;
	const struct report **reports = ARENA_ARRAY(arena, const struct report *, count);

	for (size_t i = 0; i < count; i++) {
		struct report_query query = queries[i];
		/* One answer shares one tree. */
		struct kept_tree *used = NULL;
		struct kept_trees *keeping = a->kept ? NULL : kept;

		query.subject = subject;
		query.confidence |= brief_has_margins(&query, filtered->profile);
		const struct selection *selection = selection_for(&query, filtered, arena);
		const struct entity_tree *tree = NULL;
		struct error *err;

		for (size_t k = 0; k < i && tree == NULL; k++)
			if (shares_tree(&queries[k], &queries[i]))
				tree = reports[k]->tree;
		if (tree == NULL)
			tree = kept_tree_get(keeping, selection, question, &query, arena, &used);
		if (used)
			a->kept = used;
		err = same_refusal(&query);
		if (!err)
			err = find_centre(&query, tree, arena);
		if (err)
			return err;
		remark_rowless(&query, tree, arena);
		remark_mistaken(&query, selection, arena);
		remark_outside(&query, selection, arena);
		remark_unfit(&query, selection->profile, arena);
		reports[i] = report_create(selection, tree, &query, arena);
	}
	a->reports = reports;
	return NULL;
}

/* Checks whether a profile without stacks can answer the question. */
static struct error *check_stacks(const struct question *question, const struct profile *profile,
	const struct report_query *query)
{
	const struct filter_options *f = &question->filters;
	struct error *err = NULL;

	if (query->view->needs_stacks && !(query->view->takes_costs && profile->arc_cost)) {
		char *what = xasprintf("--view %s", query->view->name);

		err = profile_needs_stacks(profile, what);
		free(what);
	}
	if (err == NULL && query->view->needs_times)
		err = profile_needs_times(profile);
	if (err == NULL && query->spread)
		err = profile_needs_stacks(profile, "--spread");
	if (err == NULL && query->confidence)
		err = confidence_check(profile, query->metric);
	for (size_t i = 0; err == NULL && i < f->filters.count; i++)
		if (f->filters.data[i].kind == FILTER_WHEN)
			err = profile_needs_stacks(profile, "--when");
	return err;
}

static struct error *check_queries(const struct question *question, const struct profile *profile)
{
	struct error *err = NULL;

	for (size_t i = 0; i < question->query_count && err == NULL; i++) {
		err = level_check(question->queries[i].level, profile);
		if (err == NULL)
			err = check_stacks(question, profile, &question->queries[i]);
	}
	return err;
}

struct error *answer_create(
	const struct question *question, const struct profile *profile, struct answer **answer)
{
	return answer_create_keeping(question, profile, NULL, answer);
}

struct error *answer_create_keeping(const struct question *question, const struct profile *profile,
	struct kept_trees *kept, struct answer **answer)
{
	struct arena *arena = arena_create();
	struct answer *a = ARENA_NEW(arena, struct answer);
	struct selection *selection;
	struct error *err = check_queries(question, profile);

	const struct brief_subject *subject = subject_of(question, arena);

	*a = (struct answer){.arena = arena,
		.format = &formats[question->format],
		.count = question->query_count};
	if (err == NULL)
		err = filter_list_init(
			&a->filters, &question->filters, profile, &question->queries[0].metric);
	if (err == NULL)
		err = selection_create(profile, a->filters.filters.data, a->filters.filters.count,
			arena, &selection);
	if (err == NULL)
		err = make_reports(selection, subject, question, kept, a);
	if (err == NULL)
		*answer = a;
	else
		answer_destroy(a);
	return err;
}

void answer_destroy(struct answer *answer)
{
	if (answer == NULL)
		return;
	filter_list_deinit(&answer->filters);
	vec_deinit(&answer->metrics.ids);
	kept_tree_release(answer->kept);
	arena_destroy(answer->arena);
}

void answer_draw(const struct answer *answer, const struct text_style *style, struct sink *sink)
{
	assert(!answer->format->is_page);
	answer->format->draw(sink, style, answer->reports, answer->count);
}
