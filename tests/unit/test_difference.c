/*
 * What must hold of reports of differences, whatever the two profiles: each figure is new less old;
 * old and new are the figures of the files alone; old and new together are those of the merger;
 * turned round, a difference has the other sign, and of a file and itself there is none.  Of the
 * views whose entries have several rows, and of the tree; functions are in test_merge.c.
 *
 * Reports are compared as lists of rows by name: what differs in order, in cycles' numbers and in
 * rows of zeros is the same report.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../random_profile.h"
#include "../unit.h"
#include "base/alloc.h"
#include "base/vec.h"
#include "model/match.h"
#include "model/merge.h"
#include "view/callers_rows.h"
#include "view/difference.h"
#include "view/graph_rows.h"
#include "view/views.h"

#define ROUNDS	    300
#define FIGURES_MAX 3

static uint64_t current_seed;

#define check(condition)                                                                           \
	do {                                                                                       \
		if (!(condition))                                                                  \
			fail_msg("SEED=%" PRIu64 ": line %d: %s", current_seed, __LINE__,          \
				#condition);                                                       \
	} while (0)

/* ---- a report as a list of rows ---- */

/* A view, and which figures of its rows are compared; ends with COLUMN_END. */
struct subject {
	const struct view *view;
	enum column_id figures[FIGURES_MAX + 1];
};

static const struct subject subjects[] = {
	{&view_callers, {COLUMN_ATTRIBUTED, COLUMN_EXCLUSIVE, COLUMN_INCLUSIVE, COLUMN_END}},
	{&view_graph, {COLUMN_SELF, COLUMN_CHILDREN, COLUMN_SELF_AND_CHILDREN, COLUMN_END}},
	{&view_tree, {COLUMN_DIRECT, COLUMN_INDIRECT, COLUMN_IN_ONLY, COLUMN_END}},
};

struct line {
	char *key;
	int64_t figures[FIGURES_MAX];
};

struct lines {
	VEC(struct line) rows;
};

static int line_compare(const void *a, const void *b)
{
	return strcmp(((const struct line *)a)->key, ((const struct line *)b)->key);
}

static char *entity_key(const struct entity *e, struct arena *arena)
{
	return arena_printf(arena, "%.*s`%.*s:%.*s:%u'%u", STR_ARG(e->module), STR_ARG(e->name),
		STR_ARG(e->file), e->line, e->occurrence);
}

/* A cycle is known by the first of its members. */
static char *cycle_key(
	const struct callgraph *graph, const struct callgraph_entry *entry, struct arena *arena)
{
	struct callgraph_range members = entry->parts[CALLGRAPH_MEMBERS];
	char *first = NULL;

	for (uint32_t i = members.first; i < members.end; i++) {
		char *key = entity_key(&graph->entities[graph->lines[i].entity], arena);

		if (first == NULL || strcmp(key, first) < 0)
			first = key;
	}
	return arena_printf(arena, "cycle of %s", first);
}

static char *graph_key(const struct report *report, size_t row, struct arena *arena)
{
	struct graph_row r = graph_row(report, row);
	const struct callgraph *g = report->callgraph;
	char *entry = r.entry->entity == NO_ID ? cycle_key(g, r.entry, arena)
					       : entity_key(&g->entities[r.entry->entity], arena);

	if (r.line == NULL)
		return entry;
	return arena_printf(arena, "%s %d %s", entry, (int)r.part,
		entity_key(report->query.view->entity(report, row), arena));
}

static char *tree_key(const struct report *report, size_t row, struct arena *arena)
{
	const struct calltree_row *r = &report->calltree->rows[row];
	char *name = entity_key(&report->tree->entities[r->entity], arena);

	if (r->parent != NO_ID)
		name = arena_printf(arena, "%s;%s", tree_key(report, r->parent, arena), name);
	return r->is_stub ? arena_printf(arena, "%s...", name) : name;
}

/* The centre's own row, and the lines, each with its centre. */
static char *callers_key(const struct report *report, size_t row, struct arena *arena)
{
	const struct callers_row *centre = callers_rows_centre(report, row);

	return arena_printf(arena, "%s %zu %s",
		entity_key(&report->tree->entities[centre->entity], arena),
		callers_rows_part(report, row),
		entity_key(report->query.view->entity(report, row), arena));
}

static char *row_key(const struct report *report, size_t row, struct arena *arena)
{
	if (report->query.view == &view_graph)
		return graph_key(report, row, arena);
	if (report->query.view == &view_tree)
		return tree_key(report, row, arena);
	return callers_key(report, row, arena);
}

/* Whether a row has the figure itself: the lines of a centre tell what others are in all. */
static bool has_figure(const struct report *report, size_t row, enum column_id id)
{
	return report->callers == NULL || id == COLUMN_ATTRIBUTED ||
	       callers_rows_part(report, row) == CALLERS_OWN;
}

/* Adds the row's figures to the line's. */
static void line_add(
	struct line *line, const struct subject *s, const struct report *of, size_t row)
{
	for (size_t i = 0; s->figures[i] != COLUMN_END; i++) {
		struct cell cell = columns[s->figures[i]].get(of, row);

		if (has_figure(of, row, s->figures[i]) && !cell.is_null)
			line->figures[i] += cell.weight;
	}
}

/* The rows of `names` with the sums of the figures of of[count], which have those rows; no zeros.
 */
static struct lines lines_of(const struct subject *s, const struct report *names,
	const struct report *const *of, size_t count, struct arena *arena)
{
	static const int64_t zeros[FIGURES_MAX];
	struct lines lines = {0};

	for (size_t row = 0; row < names->row_count; row++) {
		struct line line = {.key = row_key(names, row, arena)};

		for (size_t k = 0; k < count; k++)
			line_add(&line, s, of[k], row);
		if (memcmp(line.figures, zeros, sizeof(zeros)) != 0)
			vec_push(&lines.rows, line);
	}
	if (lines.rows.count)
		qsort(lines.rows.data, lines.rows.count, sizeof(*lines.rows.data), line_compare);
	return lines;
}

/* Frees both. */
static void check_same_lines(struct lines a, struct lines b, int64_t sign)
{
	for (size_t i = 0; i < a.rows.count && i < b.rows.count; i++) {
		const struct line *x = &a.rows.data[i], *y = &b.rows.data[i];

		if (strcmp(x->key, y->key) != 0)
			fail_msg("SEED=%" PRIu64 ": %s, not %s", current_seed, x->key, y->key);
		for (size_t k = 0; k < FIGURES_MAX; k++)
			if (x->figures[k] != sign * y->figures[k])
				fail_msg("SEED=%" PRIu64 ": %s has %" PRId64 ", not %" PRId64,
					current_seed, x->key, x->figures[k], sign * y->figures[k]);
	}
	check(a.rows.count == b.rows.count);
	vec_deinit(&a.rows);
	vec_deinit(&b.rows);
}

/* ---- two profiles, their difference and their sum ---- */

struct pair {
	struct profile *a, *b, *a_b, *b_a, *a_a, *sum;
	struct report_query query; /* but for view and metrics */
	bool is_told_alike; /* no function is taken for one that the other side tells otherwise */
	struct arena *arena;
};

static struct profile *difference(const struct profile *a, const struct profile *b)
{
	struct profile *d = NULL;

	check(profile_difference(a, b, &d) == NULL);
	return d;
}

static bool is_own(const struct profile *p, const struct import_function *as)
{
	for (uint32_t i = 0; i < p->function_count; i++)
		if (as[i].profile != p || as[i].row != i)
			return false;
	return true;
}

static bool is_told_alike(const struct profile *a, const struct profile *b, struct arena *arena)
{
	struct import_function *as_a, *as_b;

	const uint32_t *objects_as = match_objects(a, b, arena);

	for (uint32_t i = 0; i < a->object_count; i++)
		if (objects_as[i] != NO_ID)
			return false;
	match_functions(a, b, objects_as, arena, &as_a, &as_b);
	return is_own(a, as_a) && is_own(b, as_b);
}

static void pair_init(struct pair *pair, uint64_t seed)
{
	static const enum level levels[] = {LEVEL_FUNCTION, LEVEL_MODULE, LEVEL_LINE};
	struct random r = random_from(seed);
	struct random_shape shape = random_shape_small;

	current_seed = seed;
	shape.functions = 1 + random_below(&r, 12);
	shape.objects = random_below(&r, 4);
	shape.stacks = random_below(&r, 24);
	shape.depth_max = 1 + random_below(&r, 9);
	shape.metrics = 1 + random_below(&r, 3);
	shape.negative = false;
	*pair = (struct pair){.a = random_profile(seed, &shape),
		.b = random_profile(seed + 1000000, &shape),
		.arena = arena_create()};
	const struct profile *const both[] = {pair->b, pair->a};
	check(profile_merge(both, 2, &pair->sum) == NULL);
	pair->is_told_alike = is_told_alike(pair->a, pair->b, pair->arena);
	pair->a_b = difference(pair->a, pair->b);
	pair->b_a = difference(pair->b, pair->a);
	pair->a_a = difference(pair->a, pair->a);
	pair->query = (struct report_query){
		.level = levels[random_below(&r, ARRAY_SIZE(levels))],
		.spread = random_below(&r, 4) == 0,
		.collapse = (enum collapse)random_below(&r, COLLAPSE_COUNT),
	};
}

static void pair_deinit(struct pair *pair)
{
	profile_destroy(pair->a);
	profile_destroy(pair->b);
	profile_destroy(pair->a_b);
	profile_destroy(pair->b_a);
	profile_destroy(pair->a_a);
	profile_destroy(pair->sum);
	arena_destroy(pair->arena);
}

static const struct report *report_make(
	struct pair *pair, const struct profile *p, const struct report_query *query)
{
	const struct selection *selection = selection_all(p, pair->arena);

	return report_create(
		selection, report_tree(selection, query, pair->arena), query, pair->arena);
}

/* Of the metric of that name. */
static const struct report *report_of(
	struct pair *pair, const struct profile *p, const struct subject *s, struct str metric)
{
	struct report_query query = pair->query;

	query.view = s->view;
	check(profile_find_metric(p, metric, &query.metric));
	return report_make(pair, p, &query);
}

static const struct report *report_of_difference(struct pair *pair, const struct profile *d,
	const struct profile *before, const struct profile *after, const struct subject *s,
	struct str name)
{
	struct difference *of = ARENA_NEW(pair->arena, struct difference);
	struct report_query query = pair->query;
	metric_id metric;

	query.view = s->view;
	check(profile_find_metric(d, name, &metric));
	difference_init(of, d, before, after, metric, false);
	difference_ask(of, &query);
	return report_make(pair, d, &query);
}

/* Calls a function for each view and metric of many pairs. */
typedef void case_fn(struct pair *pair, const struct subject *s, struct str metric);

static void for_all(case_fn *run)
{
	for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
		struct pair pair;

		pair_init(&pair, seed);
		for (size_t s = 0; s < ARRAY_SIZE(subjects); s++)
			for (size_t m = 0; m < pair.a->metric_count; m++)
				run(&pair, &subjects[s],
					profile_string(pair.a, pair.a->metrics[m].name));
		pair_deinit(&pair);
	}
}

/* ---- the properties ---- */

static void figures_are_new_less_old(struct pair *pair, const struct subject *s, struct str metric)
{
	const struct report *d = report_of_difference(pair, pair->a_b, pair->a, pair->b, s, metric);

	for (size_t row = 0; row < d->row_count; row++)
		for (const enum column_id *id = s->figures; *id != COLUMN_END; id++) {
			struct cell cell = columns[*id].get(d, row);
			struct cell before = columns[*id].get(d->others[DIFFERENCE_OLD], row);
			struct cell after = columns[*id].get(d->others[DIFFERENCE_NEW], row);

			check(cell.is_null == before.is_null && cell.is_null == after.is_null);
			check(cell.is_null || cell.weight == after.weight - before.weight);
		}
	if (d->callers)
		check(callers_check(d->callers));
}

static size_t compared_graphs, compared_sums;

/*
 * Where recursion is the same in both: what is a cycle, and what a stub, is decided on the stacks
 * of both together.  The callers view decides nothing.  And where the files name functions as the
 * difference does (test_match.c has the others).
 */
static void sides_are_the_files_own(struct pair *pair, const struct subject *s, struct str metric)
{
	pair->query.collapse = COLLAPSE_NONE;
	const struct report *d = report_of_difference(pair, pair->a_b, pair->a, pair->b, s, metric);
	const struct report *a = report_of(pair, pair->a, s, metric);
	const struct report *b = report_of(pair, pair->b, s, metric);

	if (!pair->is_told_alike || (d->callgraph && d->callgraph->cycle_count > 0))
		return;
	compared_graphs += d->callgraph && d->row_count > 10;
	check_same_lines(lines_of(s, d, &d->others[DIFFERENCE_OLD], 1, pair->arena),
		lines_of(s, a, &a, 1, pair->arena), 1);
	check_same_lines(lines_of(s, d, &d->others[DIFFERENCE_NEW], 1, pair->arena),
		lines_of(s, b, &b, 1, pair->arena), 1);
}

/*
 * Old and new together, under whatever recursion: the stacks are the same, but where samples
 * without any weight are counted for the marks, or functions of the two are taken for one.
 */
static void sides_add_up_to_the_merger(
	struct pair *pair, const struct subject *s, struct str metric)
{
	const struct report *d = report_of_difference(pair, pair->a_b, pair->a, pair->b, s, metric);
	const struct report *sum = report_of(pair, pair->sum, s, metric);

	if (!pair->is_told_alike ||
		(d->query.hidden_count > 0 && !str_equal(metric, STR("samples"))))
		return;
	compared_sums++;
	check_same_lines(lines_of(s, d, d->others, DIFFERENCE_SHOWN, pair->arena),
		lines_of(s, sum, &sum, 1, pair->arena), 1);
}

static void turned_round_the_sign_is_the_other(
	struct pair *pair, const struct subject *s, struct str metric)
{
	const struct report *d = report_of_difference(pair, pair->a_b, pair->a, pair->b, s, metric);
	const struct report *turned =
		report_of_difference(pair, pair->b_a, pair->b, pair->a, s, metric);

	check_same_lines(lines_of(s, d, &d, 1, pair->arena),
		lines_of(s, turned, &turned, 1, pair->arena), -1);
	check(d->row_count == turned->row_count);
	for (size_t k = 0; k < DIFFERENCE_SHOWN; k++)
		check_same_lines(lines_of(s, d, &d->others[k], 1, pair->arena),
			lines_of(s, turned, &turned->others[1 - k], 1, pair->arena), 1);
}

static void of_a_file_and_itself_there_is_none(
	struct pair *pair, const struct subject *s, struct str metric)
{
	const struct report *d = report_of_difference(pair, pair->a_a, pair->a, pair->a, s, metric);
	struct lines lines = lines_of(s, d, &d, 1, pair->arena);

	check(lines.rows.count == 0);
	for (size_t row = 0; d->marks && row < d->row_count; row++)
		check(!d->marks[row]);
	vec_deinit(&lines.rows);
}

static uint64_t change_at(const struct report *d, size_t row, enum column_id id)
{
	return (uint64_t)llabs(columns[id].get(d, row).weight);
}

/* Entries, and the lines of each part, come with what changed most in front. */
static void what_changed_most_comes_first(
	struct pair *pair, const struct subject *s, struct str metric)
{
	const struct report *d = report_of_difference(pair, pair->a_b, pair->a, pair->b, s, metric);
	const struct view *view = s->view;
	size_t own = SIZE_MAX;

	for (size_t place = 0; view->parts && place < d->count; place++) {
		size_t row = report_row(d, place), part = view->part(d, row);
		size_t before = part == 0 ? own : report_row(d, place - (place > 0));
		enum column_id id = view->parts[part].main_column;
		struct graph_row r = {0};

		if (view == &view_graph)
			r = graph_row(d, row);
		/* A member stands behind its cycle, and a line without times behind those with. */
		bool free = part == 0 ? r.entry == NULL || r.entry->cycle == 0
				      : r.line == NULL || r.line->has_times;
		if (part == 0)
			own = row;
		if (before == SIZE_MAX || view->part(d, before) != part || !free)
			continue;
		if (part == 0 && view == &view_graph && graph_row(d, before).entry->cycle != 0)
			continue;
		check(change_at(d, before, id) >= change_at(d, row, id));
	}
}

TEST(test_new_less_old)
{
	for_all(figures_are_new_less_old);
}

TEST(test_sides)
{
	for_all(sides_are_the_files_own);
	assert_true(compared_graphs > 20);
}

TEST(test_sum)
{
	for_all(sides_add_up_to_the_merger);
	assert_true(compared_sums > 500);
}

TEST(test_antisymmetry)
{
	for_all(turned_round_the_sign_is_the_other);
}

TEST(test_none)
{
	for_all(of_a_file_and_itself_there_is_none);
}

TEST(test_order)
{
	for_all(what_changed_most_comes_first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_new_less_old),
		cmocka_unit_test(test_sides),
		cmocka_unit_test(test_sum),
		cmocka_unit_test(test_antisymmetry),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
