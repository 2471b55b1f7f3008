/*
 * Exclusive and inclusive weight.
 *
 * A stack holds an entity if it ends below one of the entity's nodes; it is counted once if only
 * the outermost of them counts.  In pre-order a node has another of the same entity above it
 * exactly if the last outermost one's subtree has not ended yet, so remembering that end is all it
 * takes.
 */
#include "analysis/functions.h"

#include <stdlib.h>

#include "analysis/measured.h"
#include "analysis/propagate.h"
#include "base/alloc.h"

/* Calls from others, of those that were counted. */
static void functions_count(const struct entity_tree *tree, struct function_row *rows)
{
	for (size_t i = 0; i < tree->arc_count; i++) {
		const struct entity_arc *c = &tree->arcs[i];

		if (c->caller == c->callee)
			continue;
		if (rows[c->callee].calls == UINT64_MAX)
			rows[c->callee].calls = 0;
		rows[c->callee].calls += c->calls;
	}
}

static struct function_row *functions_sum(const struct entity_tree *tree)
{
	struct function_row *rows = xcalloc(tree->entity_count + 1, sizeof(*rows));
	uint32_t *outermost_end = xcalloc(tree->entity_count, sizeof(*outermost_end));

	for (uint32_t i = 0; i <= tree->entity_count; i++)
		rows[i] = (struct function_row){.entity = i, .calls = UINT64_MAX};
	rows[tree->entity_count].exclusive = tree->spontaneous;
	for (uint32_t i = 1; i < tree->node_count; i++) {
		uint32_t entity = tree->entity[i];

		rows[entity].exclusive += entity_tree_weight(tree, i);
		if (i >= outermost_end[entity]) {
			outermost_end[entity] = tree->end[i];
			rows[entity].inclusive += entity_tree_weight_below(tree, i);
		}
	}
	free(outermost_end);
	functions_count(tree, rows);
	return rows;
}

/* The figures of all metrics, before they are rows. */
struct sums {
	const struct entity_tree *tree;
	struct function_row **of; /* [metric][entity], metric 0 the tree's own */
	size_t metric_count;
	bool has_calls;
};

/* Inclusive as gprof estimates it. */
static void sums_estimate(struct sums *s)
{
	struct arena *scratch = arena_create();
	const struct callgraph *graph =
		callgraph_propagate(s->tree, s->tree->arcs, s->tree->arc_count, scratch);

	for (size_t k = 0; k < s->metric_count; k++) {
		const struct callgraph *of = k ? graph->others[k - 1] : graph;

		for (size_t i = 0; i < of->entry_count; i++)
			if (of->entries[i].entity != NO_ID)
				s->of[k][of->entries[i].entity].inclusive =
					of->entries[i].self + of->entries[i].children;
	}
	arena_destroy(scratch);
}

/* Inclusive as it was measured along calls. */
static void sums_measure(struct sums *s)
{
	struct measured m;

	measured_init(&m, s->tree, NULL);
	for (size_t k = 0; k < s->metric_count; k++)
		for (size_t i = 0; i < s->tree->entity_count; i++) {
			s->of[k][i].inclusive = m.inclusive[k][i];
			s->of[k][i].is_bound = m.is_bound[i];
			if (!m.has_calls)
				s->of[k][i].calls = UINT64_MAX;
		}
	s->has_calls = m.has_calls;
	measured_deinit(&m);
}

static void sums_init(struct sums *s, const struct entity_tree *tree)
{
	*s = (struct sums){.tree = tree, .metric_count = tree->other_count + 1};
	s->of = xcalloc(s->metric_count, sizeof(*s->of));
	s->of[0] = functions_sum(tree);
	for (size_t k = 1; k < s->metric_count; k++)
		s->of[k] = functions_sum(tree->others[k - 1]);
	s->has_calls = tree->arc_count > 0;
	if (tree->arc_cost)
		sums_measure(s);
	else if (!tree->has_stacks && tree->arc_count)
		sums_estimate(s);
}

static void sums_deinit(struct sums *s)
{
	for (size_t k = 0; k < s->metric_count; k++)
		free(s->of[k]);
	free(s->of);
}

static bool sums_any(const struct sums *s, uint32_t entity)
{
	uint64_t calls = s->of[0][entity].calls;

	if (calls != 0 && calls != UINT64_MAX)
		return true;
	for (size_t k = 0; k < s->metric_count; k++)
		if (s->of[k][entity].exclusive != 0 || s->of[k][entity].inclusive != 0)
			return true;
	return false;
}

static int figures_compare(const struct function_row *x, const struct function_row *y)
{
	if (x->exclusive != y->exclusive)
		return x->exclusive < y->exclusive ? 1 : -1;
	if (x->inclusive != y->inclusive)
		return x->inclusive < y->inclusive ? 1 : -1;
	return 0;
}

static int rows_compare(const void *a, const void *b, void *sums)
{
	const struct function_row *x = a, *y = b;
	const struct sums *s = sums;
	int order = figures_compare(x, y);

	for (size_t k = 1; k < s->metric_count && order == 0; k++)
		order = figures_compare(&s->of[k][x->entity], &s->of[k][y->entity]);
	if (order != 0)
		return order;
	return entity_compare(
		entity_tree_entity(s->tree, x->entity), entity_tree_entity(s->tree, y->entity));
}

/* The rows of another metric, in the same order. */
static const struct functions *functions_other(
	const struct functions *first, const struct sums *s, size_t k, struct arena *arena)
{
	struct functions *f = ARENA_NEW(arena, struct functions);
	struct function_row *rows = ARENA_ARRAY(arena, struct function_row, first->count);

	for (size_t i = 0; i < first->count; i++)
		rows[i] = s->of[k][first->rows[i].entity];
	f->tree = s->tree->others[k - 1];
	f->rows = rows;
	f->count = first->count;
	f->knows_inclusive = first->knows_inclusive;
	f->is_estimated = first->is_estimated;
	f->is_measured = first->is_measured;
	f->bound_count = first->bound_count;
	f->has_calls = first->has_calls;
	return f;
}

struct functions *functions_analyse(const struct entity_tree *tree, struct arena *arena)
{
	struct functions *f = ARENA_NEW(arena, struct functions);
	struct function_row *rows = ARENA_ARRAY(arena, struct function_row, tree->entity_count + 1);
	const struct functions **others =
		ARENA_ARRAY(arena, const struct functions *, tree->other_count);
	struct sums sums;

	sums_init(&sums, tree);
	for (uint32_t i = 0; i <= tree->entity_count; i++)
		if (sums_any(&sums, i))
			rows[f->count++] = sums.of[0][i];
	qsort_r(rows, f->count, sizeof(*rows), rows_compare, &sums);
	f->tree = tree;
	f->rows = rows;
	f->has_calls = sums.has_calls;
	f->is_measured = tree->arc_cost != NULL;
	f->is_estimated = !tree->has_stacks && !f->is_measured && f->has_calls;
	f->knows_inclusive = tree->has_stacks || f->is_measured || f->has_calls;
	for (size_t i = 0; i < f->count; i++)
		f->bound_count += rows[i].is_bound;
	for (size_t k = 1; k < sums.metric_count; k++)
		others[k - 1] = functions_other(f, &sums, k, arena);
	f->others = others;
	sums_deinit(&sums);
	return f;
}
