/*
 * Callers and callees as rows: the sums of the walk, put in order.  Edges are sorted into their
 * rows by counting, then each row's side by weight.
 */
#include "analysis/callers.h"

#include <assert.h>
#include <stdlib.h>

#include "analysis/callers_walk.h"
#include "base/alloc.h"

#define TOTAL_NAME STR("<Total>")

static int64_t attributed(const struct callers_walk *w, uint32_t edge, size_t metric)
{
	return (int64_t)w->attributed.data[edge * (w->metric_count + 1) + metric];
}

static bool edge_is_recursive(const struct callers_walk *w, uint32_t edge)
{
	return attributed(w, edge, w->metric_count) == 0;
}

static bool edge_is_zero(const struct callers_walk *w, uint32_t edge)
{
	for (size_t m = 0; m < w->metric_count; m++)
		if (attributed(w, edge, m) != 0)
			return false;
	return true;
}

/* What is wanted of a walk: which edges are lines, by row and side, in which order. */
struct callers_order {
	const struct callers_walk *walk;
	uint32_t *lines;   /* edges, those of a centre and side together */
	uint32_t *first;   /* [centre * SIDE_COUNT + side]: its first line; one more at the end */
	uint32_t *centres; /* those that are rows */
	size_t count;
};

static uint32_t slot_of(const struct callers_edge *e)
{
	return e->centre * SIDE_COUNT + e->side;
}

/* Counting sort of the edges that are shown. */
static void order_collect(struct callers_order *o)
{
	const struct callers_walk *w = o->walk;
	size_t slots = w->centre_count * SIDE_COUNT;
	uint32_t *next = xcalloc(slots, sizeof(*next));

	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < w->edges.count; i++) {
			uint32_t slot = slot_of(&w->edges.data[i]);
			if (edge_is_zero(w, i) && !edge_is_recursive(w, i))
				continue;
			if (pass == 0)
				o->first[slot + 1]++;
			else
				o->lines[next[slot]++] = i;
		}
		for (size_t s = 0; pass == 0 && s < slots; s++) {
			next[s] = o->first[s];
			o->first[s + 1] += o->first[s];
		}
	}
	free(next);
}

static struct str name_of(const struct entity_tree *tree, uint32_t entity)
{
	return entity == NO_ID ? TOTAL_NAME : tree->entities[entity].name;
}

static int names_compare(const struct entity_tree *tree, uint32_t a, uint32_t b)
{
	if (a == NO_ID || b == NO_ID)
		return str_compare(name_of(tree, a), name_of(tree, b));
	return entity_compare(&tree->entities[a], &tree->entities[b]);
}

static int descending(int64_t a, int64_t b)
{
	return (a < b) - (a > b);
}

static int lines_compare(const void *a, const void *b, void *order)
{
	const struct callers_walk *w = ((const struct callers_order *)order)->walk;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int result = edge_is_recursive(w, x) - edge_is_recursive(w, y);

	for (size_t m = 0; result == 0 && m < w->metric_count; m++)
		result = descending(attributed(w, x, m), attributed(w, y, m));
	if (result == 0)
		result = names_compare(w->tree, w->edges.data[x].entity, w->edges.data[y].entity);
	return result;
}

static int centres_compare(const void *a, const void *b, void *order)
{
	const struct callers_walk *w = ((const struct callers_order *)order)->walk;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int result = 0;

	for (size_t m = 0; result == 0 && m < w->metric_count; m++) {
		size_t i = x * w->metric_count + m, k = y * w->metric_count + m;
		result = descending((int64_t)w->exclusive[i], (int64_t)w->exclusive[k]);
		if (result == 0)
			result = descending((int64_t)w->inclusive[i], (int64_t)w->inclusive[k]);
	}
	return result ? result : names_compare(w->tree, x, y);
}

static bool centre_is_zero(const struct callers_order *o, uint32_t centre)
{
	const struct callers_walk *w = o->walk;

	for (size_t i = centre * w->metric_count; i < (centre + 1) * w->metric_count; i++)
		if (w->exclusive[i] != 0 || w->inclusive[i] != 0)
			return false;
	for (uint32_t i = o->first[centre * SIDE_COUNT]; i < o->first[(centre + 1) * SIDE_COUNT];
		i++)
		if (!edge_is_zero(w, o->lines[i]))
			return false;
	return true;
}

static void order_init(struct callers_order *o, const struct callers_walk *w)
{
	size_t slots = w->centre_count * SIDE_COUNT;

	*o = (struct callers_order){.walk = w};
	o->lines = xcalloc(w->edges.count, sizeof(*o->lines));
	o->first = xcalloc(slots + 1, sizeof(*o->first));
	o->centres = xcalloc(w->centre_count, sizeof(*o->centres));
	order_collect(o);
	for (size_t s = 0; s < slots; s++)
		qsort_r(o->lines + o->first[s], o->first[s + 1] - o->first[s], sizeof(*o->lines),
			lines_compare, o);
	for (uint32_t i = 0; i < w->centre_count; i++)
		if (!centre_is_zero(o, i))
			o->centres[o->count++] = i;
	qsort_r(o->centres, o->count, sizeof(*o->centres), centres_compare, o);
}

static void order_deinit(struct callers_order *o)
{
	free(o->lines);
	free(o->first);
	free(o->centres);
}

static uint32_t order_line_count(const struct callers_order *o, uint32_t centre)
{
	return o->first[(centre + 1) * SIDE_COUNT] - o->first[centre * SIDE_COUNT];
}

static void fill_row(const struct callers_order *o, uint32_t centre, size_t metric,
	struct callers_row *row, struct callers_line *lines)
{
	const struct callers_walk *w = o->walk;
	size_t figure = centre * w->metric_count + metric;
	const uint32_t *first = &o->first[centre * SIDE_COUNT];

	row->entity = w->centre ? NO_ID : centre;
	row->exclusive = (int64_t)w->exclusive[figure];
	row->inclusive = (int64_t)w->inclusive[figure];
	row->caller_count = first[SIDE_CALLEES] - first[SIDE_CALLERS];
	row->callee_count = first[SIDE_COUNT] - first[SIDE_CALLEES];
	for (uint32_t i = first[SIDE_CALLERS]; i < first[SIDE_COUNT]; i++)
		*lines++ = (struct callers_line){
			.entity = w->edges.data[o->lines[i]].entity,
			.is_recursive = edge_is_recursive(w, o->lines[i]),
			.attributed = attributed(w, o->lines[i], metric),
		};
}

/* The rows of one metric; the walk's own is 0. */
static struct callers *callers_of(const struct callers_order *o, size_t metric, struct arena *arena)
{
	struct callers *c = ARENA_NEW(arena, struct callers);
	struct callers_row *rows = ARENA_ARRAY(arena, struct callers_row, o->count);
	size_t line_count = 0;

	for (size_t i = 0; i < o->count; i++)
		line_count += order_line_count(o, o->centres[i]);
	struct callers_line *lines = ARENA_ARRAY(arena, struct callers_line, line_count);
	uint32_t line = 0;
	for (size_t i = 0; i < o->count; i++) {
		rows[i].first_line = line;
		fill_row(o, o->centres[i], metric, &rows[i], lines + line);
		line += order_line_count(o, o->centres[i]);
	}
	*c = (struct callers){
		.tree = callers_walk_tree(o->walk, metric),
		.centre = o->walk->centre,
		.rows = rows,
		.count = o->count,
		.lines = lines,
		.line_count = line_count,
	};
	return c;
}

struct callers *callers_analyse(
	const struct entity_tree *tree, const struct centre *centre, struct arena *arena)
{
	const struct callers **others =
		ARENA_ARRAY(arena, const struct callers *, tree->other_count);
	struct callers_walk walk;
	struct callers_order order;

	callers_walk_init(&walk, tree, centre);
	callers_walk_run(&walk);
	order_init(&order, &walk);
	struct callers *c = callers_of(&order, 0, arena);
	for (size_t k = 0; k < tree->other_count; k++)
		others[k] = callers_of(&order, k + 1, arena);
	c->others = others;
	order_deinit(&order);
	callers_walk_deinit(&walk);
	assert(callers_check(c));
	return c;
}

static int64_t sum_lines(const struct callers_line *line, uint32_t count)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < count; i++)
		sum += (uint64_t)line[i].attributed;
	return (int64_t)sum;
}

int64_t callers_sum_callers(const struct callers *c, const struct callers_row *row)
{
	return sum_lines(c->lines + row->first_line, row->caller_count);
}

int64_t callers_sum_callees(const struct callers *c, const struct callers_row *row)
{
	return sum_lines(c->lines + row->first_line + row->caller_count, row->callee_count);
}

static bool check_row(const struct callers *c, const struct callers_row *row)
{
	return callers_sum_callers(c, row) == row->inclusive &&
	       row->exclusive + callers_sum_callees(c, row) == row->inclusive;
}

bool callers_check(const struct callers *c)
{
	for (size_t i = 0; i < c->count; i++)
		if (!check_row(c, &c->rows[i]))
			return false;
	for (size_t k = 0; k < c->tree->other_count && c->others; k++)
		if (!callers_check(c->others[k]))
			return false;
	return true;
}
