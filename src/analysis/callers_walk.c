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
#include "base/hash.h"

/* A node of the path from the root to the walk's current node. */
struct callers_step {
	uint32_t node;
	uint32_t centre;      /* the centre of the occurrence that ends here; NO_ID: none */
	uint32_t outer;	      /* depth of the same centre's nearest occurrence further up the
			         path; 0: none */
	uint32_t from_caller; /* edge to the occurrence that ends here; NO_ID: none */
	uint32_t to_callee;   /* edge to this node from the occurrence that ends above it */
	uint64_t matched;     /* of a centre's run, centre_step */
};

static bool has_weight(const struct callers_walk *w, uint32_t node)
{
	for (size_t m = 0; m < w->metric_count; m++)
		if (entity_tree_weight(callers_walk_tree(w, m), node) != 0)
			return true;
	return false;
}

static uint32_t *count_stacks(const struct callers_walk *w)
{
	uint32_t *below = xcalloc(w->tree->node_count, sizeof(*below));

	for (uint32_t i = (uint32_t)w->tree->node_count; i-- > 1;) {
		below[i] += has_weight(w, i);
		below[entity_tree_parent(w->tree, i)] += below[i];
	}
	return below;
}

void callers_walk_init(
	struct callers_walk *w, const struct entity_tree *tree, const struct centre *centre)
{
	*w = (struct callers_walk){.tree = tree,
		.centre = centre,
		.metric_count = tree->other_count + 1,
		.centre_count = centre ? 1 : tree->entity_count};
	w->exclusive = xcalloc(w->centre_count * w->metric_count, sizeof(*w->exclusive));
	w->inclusive = xcalloc(w->centre_count * w->metric_count, sizeof(*w->inclusive));
	w->innermost = xcalloc(w->centre_count, sizeof(*w->innermost));
	w->path = xcalloc((size_t)tree->depth_max + 1, sizeof(*w->path));
	w->weights = xcalloc(w->metric_count + 1, sizeof(*w->weights));
	w->stacks_below = count_stacks(w);
}

void callers_walk_deinit(struct callers_walk *w)
{
	row_table_deinit(&w->edges);
	vec_deinit(&w->attributed);
	free(w->exclusive);
	free(w->inclusive);
	free(w->innermost);
	free(w->path);
	free(w->weights);
	free(w->stacks_below);
}

static uint64_t edge_hash(const void *row)
{
	const struct callers_edge *e = row;

	return hash_u64((uint64_t)e->from << 32 | e->to);
}

static bool edge_same(const void *a, const void *b)
{
	const struct callers_edge *x = a, *y = b;

	return x->from == y->from && x->to == y->to;
}

static const struct row_kind edge_rows = {sizeof(struct callers_edge), edge_hash, edge_same};

uint32_t callers_walk_edge_at(struct callers_walk *w, uint32_t from, uint32_t to)
{
	uint32_t edge = row_table_intern(&w->edges, &edge_rows, &(struct callers_edge){from, to});
	size_t sums = SIDE_COUNT * (w->metric_count + 1);

	while (w->attributed.count < w->edges.count * sums)
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
	w->weights[w->metric_count] = w->stacks_below[node];
}

static uint32_t entity_at(const struct callers_walk *w, uint32_t depth)
{
	return w->tree->entity[w->path[depth].node];
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

	*step = (struct callers_step){
		.node = node, .centre = NO_ID, .from_caller = NO_ID, .to_callee = NO_ID};
	if (w->centre)
		find_edges_of_centre(w, depth);
	else
		find_edge(w, depth);
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

void callers_walk_run(struct callers_walk *w)
{
	const struct entity_tree *tree = w->tree;
	uint32_t depth = 0;

	w->path[0] = (struct callers_step){.centre = NO_ID};
	for (uint32_t i = 1; i < tree->node_count;) {
		if (w->stacks_below[i] == 0) {
			i = entity_tree_end(tree, i);
			continue;
		}
		for (uint32_t parent = entity_tree_parent(tree, i); w->path[depth].node != parent;
			depth--)
			leave(w, depth);
		assert(depth < tree->depth_max);
		enter(w, i++, ++depth);
	}
}
