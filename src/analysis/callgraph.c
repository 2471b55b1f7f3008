/*
 * The call graph, exact, from stacks.
 *
 * Arcs are the neighbours in the entity tree.  A node either begins a run of its unit, or continues
 * with the run that its parent is in; a stack meets each unit in one run, so the arc to the run's
 * first node is the only one by which stacks below it entered the unit.  That arc has all the
 * weight below that node: the weight of the run's own nodes is the unit's self, the rest its
 * children.  So each node adds to one arc, and no stack is walked.
 */
#include "analysis/callgraph.h"

#include <stdlib.h>

#include "analysis/callgraph_layout.h"
#include "analysis/entity_pairs.h"
#include "base/alloc.h"
#include "base/compiler.h"

struct builder {
	const struct entity_tree *tree;
	struct entity_pairs pairs;
	struct callgraph_calls *calls; /* [pair]; NULL: none was counted */
};

/* Adds the pairs of neighbours in the tree, and those that were counted. */
static void builder_add_pairs(struct builder *b, const struct entity_arc *counted, size_t count)
{
	const struct entity_tree *tree = b->tree;
	const struct tree_runs *runs = &tree->runs;

	entity_pairs_expect(&b->pairs, tree->entity_count, NULL, NULL, tree->node_count);
	for (size_t r = 0; r < runs->count; r++)
		for (uint32_t i = r ? runs->first[r] : 1, from = runs->parent[r];
			i < runs->first[r + 1]; from = i++)
			entity_pairs_mark(&b->pairs, tree->entity[from], tree->entity[i]);
	for (size_t i = 0; i < count; i++)
		entity_pairs_mark(&b->pairs, counted[i].caller, counted[i].callee);
	entity_pairs_close(&b->pairs);
}

static void builder_deinit(struct builder *b)
{
	entity_pairs_deinit(&b->pairs);
	free(b->calls);
}

static void builder_add_calls(struct builder *b, const struct entity_arc *counted, size_t count)
{
	if (count)
		b->calls = xcalloc(entity_pairs_count(&b->pairs), sizeof(*b->calls));
	for (size_t i = 0; i < count; i++) {
		struct callgraph_calls *calls =
			&b->calls[entity_pairs_at(&b->pairs, counted[i].caller, counted[i].callee)];

		calls->is_known = true;
		calls->count += counted[i].calls;
	}
}

/* One metric's figures while they are added up. */
struct sums {
	const struct entity_tree *tree;
	int64_t *self;		  /* [entity] */
	struct call_times *times; /* [arc] */
};

/* A node adds its weight to its entity, and to the arc of its run. */
static void sums_add(const struct sums *s, uint32_t node, uint32_t arc, bool begins_run)
{
	int64_t weight = entity_tree_weight(s->tree, node);

	if (begins_run)
		s->times[arc].children += entity_tree_weight_below(s->tree, node);
	s->times[arc].self += weight;
	s->times[arc].children -= weight;
	s->self[s->tree->entity[node]] += weight;
}

#define NODES_AHEAD 8u

/* Prefetches the times of an arc some nodes ahead, if the nodes up to it are only children. */
static void warm(const struct builder *b, const struct sums *sums, uint32_t node)
{
	if (node + NODES_AHEAD >= b->tree->node_count)
		return;
	const uint32_t *near = &b->tree->entity[node + NODES_AHEAD];
	uint32_t arc = entity_pairs_peek(&b->pairs, near[-1], near[0]);

	if (arc != NO_ID)
		prefetch_to_write(&sums->times[arc]);
}

/* Adds up the figures of all nodes, in a walk that knows the arcs of the path's runs. */
static void builder_sum(
	struct builder *b, const struct call_units *units, const struct sums *sums, size_t count)
{
	const struct entity_tree *tree = b->tree;
	const struct tree_runs *runs = &tree->runs;
	uint32_t *depths = tree_runs_depths(runs);
	uint32_t *arcs = xcalloc((size_t)tree->depth_max + 1, sizeof(*arcs)); /* [depth] */

	for (size_t r = 0; r < runs->count; r++) {
		uint32_t depth = r ? depths[r] : 1, from = tree->entity[runs->parent[r]];

		for (uint32_t i = r ? runs->first[r] : 1; i < runs->first[r + 1]; i++, depth++) {
			uint32_t to = tree->entity[i];
			bool begins_run = from == NO_ID || units->of[from] != units->of[to];

			warm(b, sums, i);
			arcs[depth] =
				begins_run ? entity_pairs_at(&b->pairs, from, to) : arcs[depth - 1];
			for (size_t k = 0; k < count; k++)
				sums_add(&sums[k], i, arcs[depth], begins_run);
			from = to;
		}
	}
	free(arcs);
	free(depths);
}

/* The figures of each metric's tree, in arrays that the caller frees. */
static struct call_figures *builder_figures(struct builder *b, const struct call_units *units)
{
	size_t count = b->tree->other_count + 1;
	struct call_figures *figures = xcalloc(count, sizeof(*figures));
	struct sums *sums = xcalloc(count, sizeof(*sums));

	for (size_t k = 0; k < count; k++) {
		sums[k] = (struct sums){
			.tree = k ? b->tree->others[k - 1] : b->tree,
			.self = xcalloc(b->tree->entity_count, sizeof(*sums->self)),
			.times = xcalloc(entity_pairs_count(&b->pairs), sizeof(*sums->times)),
		};
		figures[k] = (struct call_figures){
			.total = sums[k].tree->total, .self = sums[k].self, .times = sums[k].times};
	}
	builder_sum(b, units, sums, count);
	free(sums);
	return figures;
}

static struct callgraph *builder_graph(struct builder *b, size_t limit, struct arena *arena)
{
	const struct entity_tree *tree = b->tree;
	size_t metric_count = tree->other_count + 1;
	struct call_arcs arcs = {
		.entities = tree->entities,
		.entity_count = tree->entity_count,
		.arcs = entity_pairs_all(&b->pairs),
		.calls = b->calls,
		.count = entity_pairs_count(&b->pairs),
		.order_count = tree->order_count,
		.is_difference = tree->is_difference,
	};
	struct call_units units;

	call_units_init(&units, &arcs);
	struct call_figures *figures = builder_figures(b, &units);
	entity_pairs_end(&b->pairs);
	struct callgraph *graph =
		callgraph_layout(&arcs, &units, figures, metric_count, limit, arena);
	for (size_t k = 0; k < metric_count; k++) {
		free((void *)figures[k].self);
		free((void *)figures[k].times);
	}
	free(figures);
	call_units_deinit(&units);
	return graph;
}

struct callgraph *callgraph_analyse(const struct entity_tree *tree,
	const struct entity_arc *counted, size_t count, size_t limit, struct arena *arena)
{
	struct builder b = {.tree = tree};

	builder_add_pairs(&b, counted, count);
	builder_add_calls(&b, counted, count);
	struct callgraph *graph = builder_graph(&b, limit, arena);
	builder_deinit(&b);
	return graph;
}
