/*
 * Attributed weights, for all centres in one walk over the tree.
 *
 * The stacks whose innermost occurrence of a centre is at node n are those that pass n, minus those
 * that pass one of the nearest occurrences below n.  So each occurrence adds the weight below it to
 * its own caller, and subtracts it from the caller of the nearest occurrence above.  It also
 * subtracts it from the callee through which the stack left the occurrence above, because the
 * stack's callee is now further in.  gprofng's PathTree adds and subtracts in the same way along
 * one stack; here it is done for all stacks below a node at once.
 *
 * Whether an edge exists, even if its weights add up to 0, is determined by the same sums over the
 * number of distinct stacks.  An edge with a sum of 0 is used in recursion only.
 *
 * Intermediate sums may exceed 64 bits, as a recursion counts a stack repeatedly; unsigned
 * arithmetic makes the final sums correct.
 */
#include "analysis/callers_walk.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"

/* A node of the path from the root to the walk's current node. */
struct callers_step {
	uint32_t node;
	uint32_t entity;
	uint32_t centre;      /* the centre of the occurrence that ends here; NO_ID: none */
	uint32_t outer;	      /* depth of its next occurrence up the path; 0: none */
	uint32_t from_caller; /* edge to the occurrence that ends here; NO_ID: none */
	uint32_t to_callee;   /* edge to this node from the occurrence that ends above it */
	uint64_t matched;     /* of a centre's run, centre_step */
};

/* Counts the ends with weight in any metric. */
static void count_stacks(struct callers_walk *w)
{
	const struct entity_tree *tree = w->tree;
	uint32_t count = tree->ends.count;

	w->stacks_before = xcalloc((size_t)count + 1, sizeof(*w->stacks_before));
	for (uint32_t i = 0; i < count; i++) {
		bool has_weight = false;

		for (size_t m = 0; m < w->metric_count; m++) {
			const int64_t *before = callers_walk_tree(w, m)->before;

			has_weight |= before[i + 1] != before[i];
		}
		w->stacks_before[i + 1] = w->stacks_before[i] + has_weight;
	}
	w->has_weightless = w->stacks_before[count] != count;
}

/* The distinct stacks with weight that end at the node or below. */
static uint32_t stacks_below(const struct callers_walk *w, uint32_t node)
{
	const struct rank_set *ends = &w->tree->ends;

	return w->stacks_before[rank_set_below(ends, entity_tree_end(w->tree, node))] -
	       w->stacks_before[rank_set_below(ends, node)];
}

void callers_walk_init(struct callers_walk *w, const struct entity_tree *tree,
	const struct centre *centre, const bool *chosen)
{
	*w = (struct callers_walk){.tree = tree,
		.centre = centre,
		.chosen = chosen,
		.metric_count = tree->other_count + 1,
		.centre_count = centre ? 1 : tree->entity_count};
	entity_pairs_init(&w->edges, tree->entity_count, chosen, tree->node_count);
	w->exclusive = xcalloc(w->centre_count * w->metric_count, sizeof(*w->exclusive));
	w->inclusive = xcalloc(w->centre_count * w->metric_count, sizeof(*w->inclusive));
	w->innermost = xcalloc(w->centre_count, sizeof(*w->innermost));
	w->path = xcalloc((size_t)tree->depth_max + 1, sizeof(*w->path));
	w->weights = xcalloc(w->metric_count + 1, sizeof(*w->weights));
	count_stacks(w);
}

void callers_walk_deinit(struct callers_walk *w)
{
	entity_pairs_deinit(&w->edges);
	vec_deinit(&w->attributed);
	free(w->exclusive);
	free(w->inclusive);
	free(w->innermost);
	free(w->path);
	free(w->weights);
	free(w->stacks_before);
}

uint32_t callers_walk_edge_at(struct callers_walk *w, uint32_t from, uint32_t to)
{
	uint32_t edge = entity_pairs_at(&w->edges, from, to);
	size_t sums = SIDE_COUNT * (w->metric_count + 1);

	while (w->attributed.count < entity_pairs_count(&w->edges) * sums)
		vec_push(&w->attributed, 0);
	return edge;
}

static uint64_t *edge_sums(struct callers_walk *w, uint32_t edge, enum callers_side side)
{
	return &w->attributed.data[((size_t)edge * SIDE_COUNT + side) * (w->metric_count + 1)];
}

static void edge_add(struct callers_walk *w, uint32_t edge, enum callers_side side)
{
	uint64_t *sums = edge_sums(w, edge, side);

	for (size_t m = 0; m <= w->metric_count; m++)
		sums[m] += w->weights[m];
}

static void edge_subtract(struct callers_walk *w, uint32_t edge, enum callers_side side)
{
	uint64_t *sums = edge_sums(w, edge, side);

	for (size_t m = 0; m <= w->metric_count; m++)
		sums[m] -= w->weights[m];
}

static void take_weights(struct callers_walk *w, uint32_t node)
{
	for (size_t m = 0; m < w->metric_count; m++)
		w->weights[m] = (uint64_t)entity_tree_weight_below(callers_walk_tree(w, m), node);
	w->weights[w->metric_count] = stacks_below(w, node);
}

static uint32_t entity_at(const struct callers_walk *w, uint32_t depth)
{
	return w->path[depth].entity;
}

/* Each node is an occurrence, so one edge leads to it from the one above. */
static void find_edge(struct callers_walk *w, uint32_t depth)
{
	struct callers_step *step = &w->path[depth];
	uint32_t from = entity_at(w, depth - 1), to = entity_at(w, depth);
	bool wants_from = callers_walk_wants(w, from), wants_to = callers_walk_wants(w, to);

	if (!wants_from && !wants_to)
		return;
	uint32_t edge = callers_walk_edge_at(w, from, to);
	if (wants_to) {
		step->centre = to;
		step->from_caller = edge;
	}
	if (wants_from && depth > 1)
		step->to_callee = edge;
}

/* The edges before and after the run. */
static void find_edges_of_centre(struct callers_walk *w, uint32_t depth)
{
	struct callers_step *step = &w->path[depth];

	step->matched = centre_step(w->centre, step[-1].matched, entity_at(w, depth));
	if (step[-1].centre != NO_ID)
		step->to_callee = callers_walk_edge_at(w, EDGE_CENTRE, entity_at(w, depth));
	if (centre_ends(w->centre, step->matched)) {
		step->centre = 0;
		step->from_caller = callers_walk_edge_at(
			w, entity_at(w, depth - w->centre->length), EDGE_CENTRE);
	}
}

/* An occurrence ends at that depth of the path. */
static void add_occurrence(struct callers_walk *w, uint32_t depth)
{
	struct callers_step *step = &w->path[depth];
	size_t first = step->centre * w->metric_count;

	edge_add(w, step->from_caller, SIDE_CALLERS);
	step->outer = w->innermost[step->centre];
	w->innermost[step->centre] = depth;
	if (step->outer) {
		edge_subtract(w, w->path[step->outer].from_caller, SIDE_CALLERS);
		edge_subtract(w, w->path[step->outer + 1].to_callee, SIDE_CALLEES);
	}
	for (size_t m = 0; m < w->metric_count; m++) {
		w->exclusive[first + m] +=
			(uint64_t)entity_tree_weight(callers_walk_tree(w, m), step->node);
		if (!step->outer)
			w->inclusive[first + m] += w->weights[m];
	}
}

static void enter(struct callers_walk *w, uint32_t node, uint32_t depth)
{
	struct callers_step *step = &w->path[depth];

	*step = (struct callers_step){.node = node,
		.entity = w->tree->entity[node],
		.centre = NO_ID,
		.from_caller = NO_ID,
		.to_callee = NO_ID};
	if (w->centre)
		find_edges_of_centre(w, depth);
	else
		find_edge(w, depth);
	if (step->to_callee == NO_ID && step->centre == NO_ID)
		return;
	take_weights(w, node);
	if (step->to_callee != NO_ID)
		edge_add(w, step->to_callee, SIDE_CALLEES);
	if (step->centre != NO_ID)
		add_occurrence(w, depth);
}

static void leave(struct callers_walk *w, uint32_t depth)
{
	const struct callers_step *step = &w->path[depth];

	if (step->centre != NO_ID)
		w->innermost[step->centre] = step->outer;
}

#define NODES_AHEAD 8u

/*
 * Prefetches what the walk will need if the next nodes are only children: the number of an edge far
 * ahead, and the sums of a nearer one, whose number has arrived.
 */
static void warm(const struct callers_walk *w, uint32_t node)
{
	const struct entity_tree *tree = w->tree;

	if (node + 2 * NODES_AHEAD >= tree->node_count)
		return;
	const uint32_t *near = &tree->entity[node + NODES_AHEAD], *far = near + NODES_AHEAD;

	if (callers_walk_wants(w, far[-1]) || callers_walk_wants(w, far[0]))
		entity_pairs_warm(&w->edges, far[-1], far[0]);
	if (!callers_walk_wants(w, near[-1]) && !callers_walk_wants(w, near[0]))
		return;
	uint32_t edge = entity_pairs_peek(&w->edges, near[-1], near[0]);
	if (edge != NO_ID)
		__builtin_prefetch(
			&w->attributed.data[(size_t)edge * SIDE_COUNT * (w->metric_count + 1)], 1);
}

void callers_walk_run(struct callers_walk *w)
{
	const struct entity_tree *tree = w->tree;
	const struct tree_runs *runs = &tree->runs;
	uint32_t depth = 0, weightless_end = 0;

	w->path[0] = (struct callers_step){.entity = NO_ID, .centre = NO_ID};
	for (uint32_t r = 0; r < runs->count; r++) {
		uint32_t i = r ? runs->first[r] : 1;

		if (i < weightless_end)
			continue;
		for (; w->path[depth].node != runs->parent[r]; depth--)
			leave(w, depth);
		for (; i < runs->first[r + 1]; i++) {
			if (w->has_weightless && stacks_below(w, i) == 0) {
				weightless_end = entity_tree_end(tree, i);
				break;
			}
			warm(w, i);
			assert(depth < tree->depth_max);
			enter(w, i, ++depth);
		}
	}
}
