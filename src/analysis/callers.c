/*
 * Callers and callees as rows: the sums of the walk, put in order.  All lines are sorted at once,
 * by radix, so that a million of them cost no comparisons.
 */
#include "analysis/callers.h"

#include <assert.h>
#include <stdlib.h>

#include "analysis/callers_walk.h"
#include "base/alloc.h"
#include "base/sort.h"

#define TOTAL_NAME STR("<Total>")

/*
 * The rows and lines of a walk to show, in order.  A line is one side of an edge: number edge *
 * SIDE_COUNT + side.
 */
struct callers_order {
	const struct callers_walk *walk;
	uint32_t *rank;	   /* [entity] by name; <Total>'s at the end */
	uint32_t *lines;   /* grouped by centre and side, each by its number */
	uint32_t *first;   /* [centre * SIDE_COUNT + side]: its first line; one more at the end */
	uint32_t *centres; /* those that are rows */
	size_t count;
};

static int64_t attributed(const struct callers_walk *w, uint32_t line, size_t metric)
{
	return (int64_t)w->attributed.data[line * (w->metric_count + 1) + metric];
}

static bool line_is_recursive(const struct callers_walk *w, uint32_t line)
{
	return attributed(w, line, w->metric_count) == 0;
}

static bool line_is_zero(const struct callers_walk *w, uint32_t line)
{
	for (size_t m = 0; m < w->metric_count; m++)
		if (attributed(w, line, m) != 0)
			return false;
	return true;
}

/* The entity at the line's own end of the edge.  It is a line only if this is a centre. */
static uint32_t line_centre(const struct callers_walk *w, uint32_t line)
{
	const struct entity_pair *e = callers_walk_edge(w, line / SIDE_COUNT);

	return line % SIDE_COUNT == SIDE_CALLERS ? e->callee : e->caller;
}

static uint32_t line_entity(const struct callers_walk *w, uint32_t line)
{
	const struct entity_pair *e = callers_walk_edge(w, line / SIDE_COUNT);

	return line % SIDE_COUNT == SIDE_CALLERS ? e->caller : e->callee;
}

static bool line_is_shown(const struct callers_walk *w, uint32_t line)
{
	uint32_t centre = line_centre(w, line);

	if (w->centre ? centre != EDGE_CENTRE : centre == NO_ID || !callers_walk_wants(w, centre))
		return false;
	return line_is_recursive(w, line) || !line_is_zero(w, line);
}

static uint32_t line_slot(const struct callers_walk *w, uint32_t line)
{
	uint32_t centre = w->centre ? 0 : line_centre(w, line);

	return centre * SIDE_COUNT + line % SIDE_COUNT;
}

static struct str name_of(const struct entity_tree *tree, uint32_t entity)
{
	return entity == tree->entity_count ? TOTAL_NAME : tree->entities[entity].name;
}

static int names_compare(const void *a, const void *b, void *of)
{
	const struct entity_tree *tree = of;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (x == tree->entity_count || y == tree->entity_count)
		return str_compare(name_of(tree, x), name_of(tree, y));
	return entity_compare(&tree->entities[x], &tree->entities[y]);
}

static void order_rank(struct callers_order *o)
{
	const struct entity_tree *tree = o->walk->tree;
	size_t count = tree->entity_count + 1;
	uint32_t *sorted = xcalloc(count, sizeof(*sorted));

	o->rank = xcalloc(count, sizeof(*o->rank));
	for (uint32_t i = 0; i < count; i++)
		sorted[i] = i;
	qsort_r(sorted, count, sizeof(*sorted), names_compare, (void *)(uintptr_t)tree);
	for (uint32_t i = 0; i < count; i++)
		o->rank[sorted[i]] = i;
	free(sorted);
}

/* Groups the lines that are shown by their slots. */
static void order_collect(struct callers_order *o)
{
	const struct callers_walk *w = o->walk;
	size_t count = entity_pairs_count(&w->edges) * SIDE_COUNT;
	size_t slots = w->centre_count * SIDE_COUNT;
	uint32_t *next = xcalloc(slots + 1, sizeof(*next));

	for (uint32_t i = 0; i < count; i++)
		if (line_is_shown(w, i))
			o->first[line_slot(w, i) + 1]++;
	for (size_t s = 0; s < slots; s++)
		next[s + 1] = o->first[s + 1] += o->first[s];
	o->lines = xcalloc(o->first[slots], sizeof(*o->lines));
	for (uint32_t i = 0; i < count; i++)
		if (line_is_shown(w, i))
			o->lines[next[line_slot(w, i)]++] = i;
	free(next);
}

/* Differences are ordered by absolute value. */
static int64_t order_figure(const struct callers_walk *w, uint64_t figure)
{
	int64_t value = (int64_t)figure;

	return w->tree->is_difference && value < 0 ? -value : value;
}

/*
 * Orders the lines of one slot, from the least significant criterion to the most, as each sort is
 * stable.
 */
static void order_sort_slot(
	const struct callers_order *o, uint32_t *lines, size_t count, struct sort_item *items)
{
	const struct callers_walk *w = o->walk;

	for (size_t i = 0; i < count; i++) {
		uint32_t entity = line_entity(w, lines[i]);

		items[i] = (struct sort_item){
			o->rank[entity == NO_ID ? w->tree->entity_count : entity], lines[i]};
	}
	sort_items(items, count);
	for (size_t m = w->tree->order_count; m-- > 0;) {
		for (size_t i = 0; i < count; i++)
			items[i].key = sort_key_descending(
				order_figure(w, (uint64_t)attributed(w, items[i].index, m)));
		sort_items(items, count);
	}
	for (size_t i = 0; i < count; i++)
		items[i].key = line_is_recursive(w, items[i].index);
	sort_items(items, count);
	for (size_t i = 0; i < count; i++)
		lines[i] = items[i].index;
}

/* Slot by slot, so that what is sorted stays in the processor's caches. */
static void order_sort(struct callers_order *o)
{
	size_t slots = o->walk->centre_count * SIDE_COUNT, most = 0;
	struct sort_item *items;

	for (size_t s = 0; s < slots; s++)
		if (o->first[s + 1] - o->first[s] > most)
			most = o->first[s + 1] - o->first[s];
	items = xcalloc(most, sizeof(*items));
	for (size_t s = 0; s < slots; s++)
		order_sort_slot(o, o->lines + o->first[s], o->first[s + 1] - o->first[s], items);
	free(items);
}

static int descending(const struct callers_walk *w, uint64_t a, uint64_t b)
{
	int64_t x = order_figure(w, a), y = order_figure(w, b);

	return (x < y) - (x > y);
}

static int centres_compare(const void *a, const void *b, void *order)
{
	const struct callers_order *o = order;
	const struct callers_walk *w = o->walk;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int result = 0;

	for (size_t m = 0; result == 0 && m < w->tree->order_count; m++) {
		size_t i = x * w->metric_count + m, k = y * w->metric_count + m;
		result = descending(w, w->exclusive[i], w->exclusive[k]);
		if (result == 0)
			result = descending(w, w->inclusive[i], w->inclusive[k]);
	}
	return result ? result : (o->rank[x] > o->rank[y]) - (o->rank[x] < o->rank[y]);
}

static bool centre_is_zero(const struct callers_order *o, uint32_t centre)
{
	const struct callers_walk *w = o->walk;

	for (size_t i = centre * w->metric_count; i < (centre + 1) * w->metric_count; i++)
		if (w->exclusive[i] != 0 || w->inclusive[i] != 0)
			return false;
	for (uint32_t i = o->first[centre * SIDE_COUNT]; i < o->first[(centre + 1) * SIDE_COUNT];
		i++)
		if (!line_is_zero(w, o->lines[i]))
			return false;
	return true;
}

static void order_init(struct callers_order *o, const struct callers_walk *w)
{
	size_t slots = w->centre_count * SIDE_COUNT;

	*o = (struct callers_order){.walk = w};
	o->first = xcalloc(slots + 1, sizeof(*o->first));
	o->centres = xcalloc(w->centre_count, sizeof(*o->centres));
	order_rank(o);
	order_collect(o);
	order_sort(o);
	for (uint32_t i = 0; i < w->centre_count; i++)
		if (!centre_is_zero(o, i))
			o->centres[o->count++] = i;
	qsort_r(o->centres, o->count, sizeof(*o->centres), centres_compare, o);
}

static void order_deinit(struct callers_order *o)
{
	free(o->rank);
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
			.entity = line_entity(w, o->lines[i]),
			.is_recursive = line_is_recursive(w, o->lines[i]),
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

/* chosen: the wanted centres, or NULL for all. */
static struct callers *analyse(const struct entity_tree *tree, const struct centre *centre,
	const bool *chosen, struct arena *arena)
{
	const struct callers **others =
		ARENA_ARRAY(arena, const struct callers *, tree->other_count);
	struct callers_walk walk;
	struct callers_order order;

	callers_walk_init(&walk, tree, centre, chosen);
	if (tree->arc_cost)
		callers_walk_measured(&walk);
	else
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

struct callers *callers_analyse(
	const struct entity_tree *tree, const struct centre *centre, struct arena *arena)
{
	return analyse(tree, centre, NULL, arena);
}

static bool has_negative(const struct entity_tree *tree)
{
	bool found = tree->has_negative;

	for (size_t k = 0; k < tree->other_count; k++)
		found |= tree->others[k]->has_negative;
	return found;
}

/* Whether the function's row is also that of a centre. */
static bool is_centre(const struct functions *f, size_t row)
{
	bool any = f->rows[row].exclusive != 0 || f->rows[row].inclusive != 0;

	for (size_t k = 0; k < f->tree->other_count; k++)
		any |= f->others[k]->rows[row].exclusive != 0 ||
		       f->others[k]->rows[row].inclusive != 0;
	return any && f->rows[row].entity < f->tree->entity_count;
}

struct callers *callers_analyse_first(const struct entity_tree *tree,
	const struct functions *functions, size_t limit, struct arena *arena)
{
	size_t count = 0;

	if (limit == 0 || !tree->has_stacks || tree->is_difference || has_negative(tree))
		return analyse(tree, NULL, NULL, arena);
	bool *chosen = xcalloc(tree->entity_count, sizeof(*chosen));
	/* Functions are in the same order as centres. */
	for (size_t i = 0; i < functions->count; i++)
		if (is_centre(functions, i) && count++ < limit)
			chosen[functions->rows[i].entity] = true;
	struct callers *c = analyse(tree, NULL, chosen, arena);
	c->left_out = count - c->count;
	free(chosen);
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
