/*
 * Callers and callees as rows: the sums of the walk, put in order.  Rows are ordered first, and
 * lines grouped by them; then a group is sorted, by radix, and filled in while it is in the
 * processor's caches.
 */
#include "analysis/callers.h"

#include <assert.h>
#include <stdlib.h>

#include "analysis/callers_walk.h"
#include "base/alloc.h"
#include "base/sort.h"

/* What becomes a row, in order.  A slot is one side of a centre: centre * SIDE_COUNT + side. */
struct callers_order {
	const struct callers_walk *walk;
	bool *is_row;	   /* [centre] */
	uint32_t *centres; /* [count] those that are rows */
	size_t count;
	uint32_t *size;	 /* [slot]: how many lines are shown */
	uint32_t *first; /* [slot]: the first of them; rows' lines are in the order of rows */
	uint32_t line_count;
	struct sort_item *items; /* room to sort the lines of one slot */
};

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
	return callers_walk_is_recursive(w, line) || !callers_walk_is_zero(w, line);
}

static uint32_t line_slot(const struct callers_walk *w, uint32_t line)
{
	uint32_t centre = w->centre ? 0 : line_centre(w, line);

	return centre * SIDE_COUNT + line % SIDE_COUNT;
}

/* Differences are ordered by absolute value. */
static int64_t order_figure(const struct callers_walk *w, int64_t figure)
{
	return w->tree->is_difference && figure < 0 ? -figure : figure;
}

static int descending(const struct callers_walk *w, uint64_t a, uint64_t b)
{
	int64_t x = order_figure(w, (int64_t)a), y = order_figure(w, (int64_t)b);

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
	if (result == 0 && w->centre == NULL)
		result = (w->rank[x + 1] > w->rank[y + 1]) - (w->rank[x + 1] < w->rank[y + 1]);
	return result;
}

/* A centre is a row if it or a line of it has a figure. */
static void order_find_rows(struct callers_order *o)
{
	const struct callers_walk *w = o->walk;
	size_t count = entity_pairs_count(&w->edges) * SIDE_COUNT;

	for (uint32_t i = 0; i < count; i++) {
		if (!line_is_shown(w, i))
			continue;
		o->size[line_slot(w, i)]++;
		o->is_row[line_slot(w, i) / SIDE_COUNT] |= !callers_walk_is_zero(w, i);
	}
	for (size_t i = 0; i < w->centre_count * w->metric_count; i++)
		o->is_row[i / w->metric_count] |= w->exclusive[i] != 0 || w->inclusive[i] != 0;
	for (uint32_t i = 0; i < w->centre_count; i++)
		if (o->is_row[i])
			o->centres[o->count++] = i;
	qsort_r(o->centres, o->count, sizeof(*o->centres), centres_compare, o);
}

static void order_init(struct callers_order *o, const struct callers_walk *w)
{
	size_t slots = w->centre_count * SIDE_COUNT;
	uint32_t most = 0;

	*o = (struct callers_order){.walk = w};
	o->is_row = xcalloc(w->centre_count, sizeof(*o->is_row));
	o->centres = xcalloc(w->centre_count, sizeof(*o->centres));
	o->size = xcalloc(slots, sizeof(*o->size));
	o->first = xcalloc(slots, sizeof(*o->first));
	order_find_rows(o);
	for (size_t i = 0; i < o->count * SIDE_COUNT; i++) {
		size_t slot = o->centres[i / SIDE_COUNT] * SIDE_COUNT + i % SIDE_COUNT;

		o->first[slot] = o->line_count;
		o->line_count += o->size[slot];
		if (o->size[slot] > most)
			most = o->size[slot];
	}
	o->items = xcalloc(most, sizeof(*o->items));
}

static void order_deinit(struct callers_order *o)
{
	free(o->is_row);
	free(o->centres);
	free(o->size);
	free(o->first);
	free(o->items);
}

/* Puts the numbers of lines, in place of an entity, where their slots are. */
static void order_group(const struct callers_order *o, struct callers_line *lines)
{
	const struct callers_walk *w = o->walk;
	size_t count = entity_pairs_count(&w->edges) * SIDE_COUNT;
	size_t slots = w->centre_count * SIDE_COUNT;
	uint32_t *next = xcalloc(slots, sizeof(*next));

	memcpy(next, o->first, slots * sizeof(*next));
	for (uint32_t i = 0; i < count; i++)
		if (line_is_shown(w, i) && o->is_row[line_slot(w, i) / SIDE_COUNT])
			lines[next[line_slot(w, i)]++].entity = i;
	free(next);
}

/*
 * Orders grouped lines of one slot into o->items, from the least significant criterion to the most,
 * as each sort is stable.
 */
static void order_sort(
	const struct callers_order *o, const struct callers_line *lines, uint32_t count)
{
	const struct callers_walk *w = o->walk;
	struct sort_item *items = o->items;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t line = lines[i].entity;

		items[i] = (struct sort_item){w->rank[line_entity(w, line) + 1], line};
	}
	sort_items(items, count);
	for (size_t m = w->tree->order_count; m-- > 0;) {
		for (uint32_t i = 0; i < count; i++)
			items[i].key = sort_key_descending(
				order_figure(w, callers_walk_attributed(w, items[i].index, m)));
		sort_items(items, count);
	}
	for (uint32_t i = 0; i < count; i++)
		items[i].key = callers_walk_is_recursive(w, items[i].index);
	sort_items(items, count);
}

/* Makes the lines of one slot, in all metrics, from the grouped ones in lines[0]. */
static void order_fill_slot(
	const struct callers_order *o, size_t slot, struct callers_line *const *lines)
{
	const struct callers_walk *w = o->walk;
	uint32_t first = o->first[slot];

	order_sort(o, lines[0] + first, o->size[slot]);
	for (size_t m = 0; m < w->metric_count; m++)
		for (uint32_t i = 0; i < o->size[slot]; i++) {
			uint32_t line = o->items[i].index;

			lines[m][first + i] = (struct callers_line){
				.entity = line_entity(w, line),
				.is_recursive = callers_walk_is_recursive(w, line),
				.attributed = callers_walk_attributed(w, line, m),
			};
		}
}

static struct callers_row order_row(const struct callers_order *o, uint32_t centre, size_t metric)
{
	const struct callers_walk *w = o->walk;
	size_t figure = centre * w->metric_count + metric, slot = centre * SIDE_COUNT;

	return (struct callers_row){
		.entity = w->centre ? NO_ID : centre,
		.exclusive = (int64_t)w->exclusive[figure],
		.inclusive = (int64_t)w->inclusive[figure],
		.first_line = o->first[slot],
		.caller_count = o->size[slot + SIDE_CALLERS],
		.callee_count = o->size[slot + SIDE_CALLEES],
	};
}

/* The rows of all metrics; those of the walk's own are the result. */
static struct callers *order_fill(const struct callers_order *o, struct arena *arena)
{
	const struct callers_walk *w = o->walk;
	struct callers *all = ARENA_ARRAY(arena, struct callers, w->metric_count);
	const struct callers **others = ARENA_ARRAY(arena, const struct callers *, w->metric_count);
	struct callers_line **lines = xcalloc(w->metric_count, sizeof(*lines));

	for (size_t m = 0; m < w->metric_count; m++) {
		struct callers_row *rows = ARENA_ARRAY(arena, struct callers_row, o->count);

		lines[m] = ARENA_ARRAY(arena, struct callers_line, o->line_count);
		for (size_t i = 0; i < o->count; i++)
			rows[i] = order_row(o, o->centres[i], m);
		all[m] = (struct callers){
			.tree = callers_walk_tree(w, m),
			.centre = w->centre,
			.rows = rows,
			.count = o->count,
			.lines = lines[m],
			.line_count = o->line_count,
		};
		if (m > 0)
			others[m - 1] = &all[m];
	}
	all->others = others;
	order_group(o, lines[0]);
	for (size_t i = 0; i < o->count; i++)
		for (size_t side = 0; side < SIDE_COUNT; side++)
			order_fill_slot(o, o->centres[i] * SIDE_COUNT + side, lines);
	free(lines);
	return all;
}

/* chosen: the wanted centres, or NULL for all. */
static struct callers *analyse(const struct entity_tree *tree, const struct centre *centre,
	const bool *chosen, struct arena *arena)
{
	struct callers_walk walk;
	struct callers_order order;

	callers_walk_init(&walk, tree, centre, chosen);
	if (tree->arc_cost)
		callers_walk_measured(&walk);
	else
		callers_walk_run(&walk);
	order_init(&order, &walk);
	struct callers *c = order_fill(&order, arena);
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

	if (limit == 0 || !tree->has_stacks || tree->is_difference ||
		callers_walk_has_negative(tree))
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
