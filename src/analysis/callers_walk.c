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
 * An edge to which no stack is attributed is used in recursion only.  Its weights add up to 0.
 * Where weights may be negative, and so cancel, the same sums over the number of distinct stacks
 * decide.
 *
 * Intermediate sums may exceed 64 bits, as a recursion counts a stack repeatedly; unsigned
 * arithmetic makes the final sums correct.
 */
#include "analysis/callers_walk.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/compiler.h"

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

static struct str name_of(const struct entity_tree *tree, uint32_t entity)
{
	return entity == NO_ID ? CALLERS_TOTAL : tree->entities[entity].name;
}

static int names_compare(const void *a, const void *b, void *of)
{
	const struct entity_tree *tree = of;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (x == NO_ID || y == NO_ID)
		return str_compare(name_of(tree, x), name_of(tree, y));
	return entity_compare(&tree->entities[x], &tree->entities[y]);
}

static void rank_names(struct callers_walk *w)
{
	size_t count = w->tree->entity_count + 1;
	uint32_t *sorted = xcalloc(count, sizeof(*sorted));

	w->rank = xcalloc(count, sizeof(*w->rank));
	for (uint32_t i = 0; i < count; i++)
		sorted[i] = i - 1;
	qsort_r(sorted, count, sizeof(*sorted), names_compare, (void *)(uintptr_t)w->tree);
	for (uint32_t i = 0; i < count; i++)
		w->rank[sorted[i] + 1] = i;
	free(sorted);
}

bool callers_walk_has_negative(const struct entity_tree *tree)
{
	bool found = tree->has_negative;

	for (size_t k = 0; k < tree->other_count; k++)
		found |= tree->others[k]->has_negative;
	return found;
}

void callers_walk_init(struct callers_walk *w, const struct entity_tree *tree,
	const struct centre *centre, const bool *chosen)
{
	*w = (struct callers_walk){.tree = tree,
		.centre = centre,
		.chosen = chosen,
		.metric_count = tree->other_count + 1,
		.width = tree->other_count + 1,
		.centre_count = centre ? 1 : tree->entity_count};
	w->exclusive = xcalloc(w->centre_count * w->metric_count, sizeof(*w->exclusive));
	w->inclusive = xcalloc(w->centre_count * w->metric_count, sizeof(*w->inclusive));
	w->innermost = xcalloc(w->centre_count, sizeof(*w->innermost));
	w->path = xcalloc((size_t)tree->depth_max + 1, sizeof(*w->path));
	if (callers_walk_has_negative(tree) || tree->arc_cost)
		w->width++;
	w->weights = xcalloc(w->width, sizeof(*w->weights));
	rank_names(w);
	count_stacks(w);
}

void callers_walk_deinit(struct callers_walk *w)
{
	entity_pairs_deinit(&w->edges);
	vec_deinit(&w->attributed);
	free(w->rank);
	free(w->exclusive);
	free(w->inclusive);
	free(w->innermost);
	free(w->path);
	free(w->weights);
	free(w->stacks_before);
}

/* An edge's figures. */
static size_t edge_width(const struct callers_walk *w)
{
	return SIDE_COUNT * w->width;
}

uint32_t callers_walk_edge_at(struct callers_walk *w, uint32_t from, uint32_t to)
{
	uint32_t edge = entity_pairs_at(&w->edges, from, to);

	if (edge * edge_width(w) == w->attributed.count)
		vec_extend(&w->attributed, w->attributed.count + edge_width(w));
	return edge;
}

static uint64_t *edge_sums(struct callers_walk *w, uint32_t edge, enum callers_side side)
{
	return &w->attributed.data[((size_t)edge * SIDE_COUNT + side) * w->width];
}

static void edge_add(struct callers_walk *w, uint32_t edge, enum callers_side side)
{
	uint64_t *sums = edge_sums(w, edge, side);

	for (size_t m = 0; m < w->width; m++)
		sums[m] += w->weights[m];
}

static void edge_subtract(struct callers_walk *w, uint32_t edge, enum callers_side side)
{
	uint64_t *sums = edge_sums(w, edge, side);

	for (size_t m = 0; m < w->width; m++)
		sums[m] -= w->weights[m];
}

static void take_weights(struct callers_walk *w, uint32_t node)
{
	for (size_t m = 0; m < w->metric_count; m++)
		w->weights[m] = (uint64_t)entity_tree_weight_below(callers_walk_tree(w, m), node);
	if (w->width > w->metric_count)
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
		prefetch_to_write(&w->attributed.data[edge * edge_width(w)]);
}

/*
 * The nodes of a run that the walk visits, from the return value to before *end.  It leaves out
 * subtrees without weight.  *left: zero at first; one past the last node that was left out.
 */
static uint32_t visited(const struct callers_walk *w, uint32_t run, uint32_t *end, uint32_t *left)
{
	const struct tree_runs *runs = &w->tree->runs;
	uint32_t first = run ? runs->first[run] : 1;

	*end = runs->first[run + 1];
	if (first < *left)
		*end = first;
	for (uint32_t i = first; w->has_weightless && i < *end; i++)
		if (stacks_below(w, i) == 0) {
			*left = entity_tree_end(w->tree, i);
			*end = i;
		}
	return first;
}

/* Marks the edges that the walk will find, and makes room for their figures. */
static void mark_edges(struct callers_walk *w)
{
	const struct entity_tree *tree = w->tree;

	entity_pairs_expect(&w->edges, tree->entity_count, w->rank, w->chosen, tree->node_count);
	for (uint32_t r = 0, end, left = 0; r < tree->runs.count; r++)
		for (uint32_t i = visited(w, r, &end, &left), from = tree->runs.parent[r]; i < end;
			from = i++)
			if (callers_walk_wants(w, tree->entity[from]) ||
				callers_walk_wants(w, tree->entity[i]))
				entity_pairs_mark(&w->edges, tree->entity[from], tree->entity[i]);
	entity_pairs_close(&w->edges);
	w->attributed.count = entity_pairs_count(&w->edges) * edge_width(w);
	w->attributed.capacity = w->attributed.count;
	w->attributed.data = xcalloc(w->attributed.count, sizeof(*w->attributed.data));
}

void callers_walk_run(struct callers_walk *w)
{
	const struct entity_tree *tree = w->tree;
	uint32_t depth = 0;

	if (w->centre == NULL)
		mark_edges(w);
	w->path[0] = (struct callers_step){.entity = NO_ID, .centre = NO_ID};
	for (uint32_t r = 0, end, left = 0; r < tree->runs.count; r++) {
		uint32_t i = visited(w, r, &end, &left);

		if (i == end)
			continue;
		for (; w->path[depth].node != tree->runs.parent[r]; depth--)
			leave(w, depth);
		for (; i < end; i++) {
			warm(w, i);
			assert(depth < tree->depth_max);
			enter(w, i, ++depth);
		}
	}
	entity_pairs_end(&w->edges);
}
