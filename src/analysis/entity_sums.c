/*
 * Sums by entity without a tree: walks from each stack with samples to its root, and counts every
 * entity on the way once.
 *
 * If stacks share few of their callers, that is about one step per node, like the layout of a tree,
 * but takes memory only for the sums, while a tree takes 20 bytes per node.  If they share most of
 * them, a tree is less work.
 */
#include <stdlib.h>

#include "analysis/entity_growth.h"
#include "base/alloc.h"

/* Most steps of such walks per node; a node of a tree takes about as long. */
#define STEPS_A_NODE 2

struct summing {
	const struct growth *g;
	uint32_t *seen;		  /* [entity]: the stack whose walk was there last; 0: none */
	struct entity_sum **sums; /* [metric of the spec][entity] */
	int64_t *weight;	  /* [metric of the spec], of the current stack */
};

static bool sums_are_cheap(const struct growth *g)
{
	const struct profile *p = g->selection->profile;

	return g->spec->sums_only && g->is_stacks && g->selection->shown == NULL &&
	       p->arc_count == 0 && p->depth_sum <= STEPS_A_NODE * (uint64_t)p->stack_count;
}

static void sum_stack(struct summing *s, uint32_t stack)
{
	const struct profile *p = s->g->selection->profile;
	const uint32_t *of_frame = s->g->map->of_frame;
	size_t metrics = s->g->spec->metric_count;

	for (size_t k = 0; k < metrics; k++)
		s->sums[k][of_frame[p->stack_frame[stack].i]].exclusive += s->weight[k];
	for (uint32_t i = stack; i; i = profile_stack_parent(p, i)) {
		uint32_t entity = of_frame[p->stack_frame[i].i];

		if (s->seen[entity] == stack)
			continue;
		s->seen[entity] = stack;
		for (size_t k = 0; k < metrics; k++)
			s->sums[k][entity].inclusive += s->weight[k];
	}
}

static void sum_stacks(struct summing *s, struct entity_tree *const *trees)
{
	const struct growth *g = s->g;

	const struct rank_set *weighted = &g->selection->profile->weighted;

	for (uint32_t i = rank_set_next(weighted, 1); i < g->count;
		i = rank_set_next(weighted, i + 1)) {
		bool any = false;

		for (size_t k = 0; k < g->spec->metric_count; k++) {
			s->weight[k] = growth_weight(g, k, i);
			any |= s->weight[k] != 0;
			trees[k]->has_negative |= s->weight[k] < 0;
		}
		if (any)
			sum_stack(s, i);
	}
}

/* The root alone, with the weight of the empty stack. */
static void set_root(struct entity_tree *tree, int64_t weight, struct arena *arena)
{
	uint32_t *entity = ARENA_NEW(arena, uint32_t), *end = ARENA_NEW(arena, uint32_t);
	int64_t *before = ARENA_ARRAY(arena, int64_t, 2);
	uint64_t *ends = rank_set_bits(1, arena);

	*entity = NO_ID;
	*end = 1;
	before[1] = weight;
	rank_set_put(ends, 0);
	tree_runs_make(&tree->runs, 1, NULL, NULL, arena);
	tree->node_count = 1;
	tree->entity = entity;
	tree->run_end = end;
	tree->ends = rank_set_make(ends, 1, arena);
	tree->before = before;
	tree->has_negative = weight < 0;
}

bool growth_sum(const struct growth *g, struct entity_tree *const *trees, struct arena *arena)
{
	size_t entities = g->map->entities.count, metrics = g->spec->metric_count;

	if (!sums_are_cheap(g))
		return false;
	struct summing s = {.g = g,
		.seen = xcalloc(entities, sizeof(*s.seen)),
		.sums = xcalloc(metrics, sizeof(*s.sums)),
		.weight = xcalloc(metrics, sizeof(*s.weight))};
	for (size_t k = 0; k < metrics; k++) {
		s.sums[k] = ARENA_ARRAY(arena, struct entity_sum, entities);
		set_root(trees[k], growth_weight(g, k, 0), arena);
		trees[k]->sums = s.sums[k];
	}
	sum_stacks(&s, trees);
	free(s.seen);
	free(s.sums);
	free(s.weight);
	return true;
}
