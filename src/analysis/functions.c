/*
 * Exclusive and inclusive weight.
 *
 * A stack contains an entity if it ends at or below one of the entity's nodes; it is counted once
 * if only the outermost of them counts.  In pre-order a node has another of the same entity above
 * it exactly if the last outermost one's subtree has not ended yet, so remembering that end
 * suffices.
 */
#include "analysis/functions.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/measured.h"
#include "analysis/propagate.h"
#include "base/alloc.h"

/* The figures of all metrics, before they are rows. */
struct sums {
	const struct entity_tree *tree;
	struct entity_sum **of; /* [metric][entity]; after the last entity, entity_spontaneous */
	size_t metric_count;
	uint64_t *calls; /* [entity]; NULL: none were counted */
	bool *is_bound;	 /* [entity]; NULL: none is */
	bool has_calls;
};

/* Counted calls from other entities. */
static uint64_t *count_calls(const struct entity_tree *tree)
{
	uint64_t *calls = xcalloc(tree->entity_count, sizeof(*calls));

	for (size_t i = 0; i < tree->entity_count; i++)
		calls[i] = UINT64_MAX;
	for (size_t i = 0; i < tree->arc_count; i++) {
		const struct entity_arc *c = &tree->arcs[i];

		if (c->caller == c->callee)
			continue;
		if (calls[c->callee] == UINT64_MAX)
			calls[c->callee] = 0;
		calls[c->callee] += c->calls;
	}
	return calls;
}

static struct entity_sum *sum_nodes(const struct entity_tree *tree)
{
	struct entity_sum *sums = xcalloc(tree->entity_count + 1, sizeof(*sums));
	uint32_t *outermost_end = xcalloc(tree->entity_count, sizeof(*outermost_end));

	if (tree->sums)
		memcpy(sums, tree->sums, tree->entity_count * sizeof(*sums));
	sums[tree->entity_count].exclusive = tree->spontaneous;
	for (uint32_t i = 1; i < tree->node_count; i++) {
		uint32_t entity = tree->entity[i];
		int64_t weight = entity_tree_weight(tree, i);

		/* At most nodes nothing ends; skipping them avoids memory accesses. */
		if (weight != 0)
			sums[entity].exclusive += weight;
		if (i >= outermost_end[entity]) {
			uint32_t end = entity_tree_end(tree, i);

			outermost_end[entity] = end;
			sums[entity].inclusive += entity_tree_weight_between(tree, i, end);
		}
	}
	free(outermost_end);
	return sums;
}

/* Inclusive weight, estimated as in gprof. */
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

/* Inclusive weight, as measured for calls. */
static void sums_measure(struct sums *s)
{
	size_t count = s->tree->entity_count;
	struct measured m;

	measured_init(&m, s->tree, NULL);
	s->is_bound = xcalloc(count, sizeof(*s->is_bound));
	for (size_t i = 0; i < count; i++) {
		s->is_bound[i] = m.is_bound[i];
		for (size_t k = 0; k < s->metric_count; k++)
			s->of[k][i].inclusive = m.inclusive[k][i];
		if (!m.has_calls)
			s->calls[i] = UINT64_MAX;
	}
	s->has_calls = m.has_calls;
	measured_deinit(&m);
}

static void sums_init(struct sums *s, const struct entity_tree *tree)
{
	*s = (struct sums){.tree = tree, .metric_count = tree->other_count + 1};
	s->of = xcalloc(s->metric_count, sizeof(*s->of));
	for (size_t k = 0; k < s->metric_count; k++)
		s->of[k] = sum_nodes(k ? tree->others[k - 1] : tree);
	s->has_calls = tree->arc_count > 0;
	if (s->has_calls)
		s->calls = count_calls(tree);
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
	free(s->calls);
	free(s->is_bound);
}

static bool sums_any(const struct sums *s, uint32_t entity)
{
	if (s->calls && entity < s->tree->entity_count && s->calls[entity] != 0 &&
		s->calls[entity] != UINT64_MAX)
		return true;
	for (size_t k = 0; k < s->metric_count; k++)
		if (s->of[k][entity].exclusive != 0 || s->of[k][entity].inclusive != 0)
			return true;
	return false;
}

static int figures_compare(const struct entity_sum *x, const struct entity_sum *y)
{
	if (x->exclusive != y->exclusive)
		return x->exclusive < y->exclusive ? 1 : -1;
	if (x->inclusive != y->inclusive)
		return x->inclusive < y->inclusive ? 1 : -1;
	return 0;
}

static int entities_compare(const void *a, const void *b, void *sums)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct sums *s = sums;
	int order = 0;

	for (size_t k = 0; k < s->tree->order_count && order == 0; k++)
		order = figures_compare(&s->of[k][x], &s->of[k][y]);
	if (order != 0)
		return order;
	return entity_compare(entity_tree_entity(s->tree, x), entity_tree_entity(s->tree, y));
}

/* The entities that have rows, in order; the caller frees them. */
static uint32_t *sums_order(struct sums *s, size_t *count)
{
	uint32_t *order = xcalloc(s->tree->entity_count + 1, sizeof(*order));

	*count = 0;
	for (uint32_t i = 0; i <= s->tree->entity_count; i++)
		if (sums_any(s, i))
			order[(*count)++] = i;
	qsort_r(order, *count, sizeof(*order), entities_compare, s);
	return order;
}

/* Counts of calls are given with the first metric. */
static struct function_row *sums_rows(const struct sums *s, size_t metric, const uint32_t *order,
	size_t count, struct arena *arena)
{
	struct function_row *rows = ARENA_ARRAY(arena, struct function_row, count);

	for (size_t i = 0; i < count; i++) {
		uint32_t entity = order[i];
		bool is_entity = entity < s->tree->entity_count;

		rows[i] = (struct function_row){.entity = entity,
			.is_bound = s->is_bound && is_entity && s->is_bound[entity],
			.exclusive = s->of[metric][entity].exclusive,
			.inclusive = s->of[metric][entity].inclusive,
			.calls = s->calls && metric == 0 && is_entity ? s->calls[entity]
								      : UINT64_MAX};
	}
	return rows;
}

/* The rows of another metric, in the same order. */
static const struct functions *functions_other(const struct functions *first, const struct sums *s,
	size_t metric, const uint32_t *order, struct arena *arena)
{
	struct functions *f = ARENA_NEW(arena, struct functions);

	*f = *first;
	f->tree = s->tree->others[metric - 1];
	f->rows = sums_rows(s, metric, order, first->count, arena);
	f->others = NULL;
	return f;
}

struct functions *functions_analyse(const struct entity_tree *tree, struct arena *arena)
{
	struct functions *f = ARENA_NEW(arena, struct functions);
	const struct functions **others =
		ARENA_ARRAY(arena, const struct functions *, tree->other_count);
	struct sums sums;

	sums_init(&sums, tree);
	uint32_t *order = sums_order(&sums, &f->count);
	f->tree = tree;
	f->rows = sums_rows(&sums, 0, order, f->count, arena);
	f->has_calls = sums.has_calls;
	f->is_measured = tree->arc_cost != NULL;
	f->is_estimated = !tree->has_stacks && !f->is_measured && f->has_calls;
	f->knows_inclusive = tree->has_stacks || f->is_measured || f->has_calls;
	for (size_t i = 0; i < f->count; i++) {
		f->bound_count += f->rows[i].is_bound;
		f->above_count += f->is_measured && !tree->is_difference &&
				  f->rows[i].inclusive > tree->total;
	}
	for (size_t k = 1; k < sums.metric_count; k++)
		others[k - 1] = functions_other(f, &sums, k, order, arena);
	f->others = others;
	free(order);
	sums_deinit(&sums);
	return f;
}
