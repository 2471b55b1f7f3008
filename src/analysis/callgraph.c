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

struct builder {
	const struct entity_tree *tree;
	struct entity_pairs pairs;
	struct callgraph_calls *calls; /* [pair]; NULL: none was counted */
	uint32_t *arc; /* [node]: the arc that leads to it, later to its run's first node */
};

#define NODES_AHEAD 16u

/* Prefetches what the node some steps ahead will need, if it is an only child. */
static void warm(const struct builder *b, uint32_t node)
{
	const struct entity_tree *tree = b->tree;

	if (node + NODES_AHEAD < tree->node_count)
		entity_pairs_warm(&b->pairs, tree->entity[node + NODES_AHEAD - 1],
			tree->entity[node + NODES_AHEAD]);
}

/* A node below the root has the arc from <spontaneous>, whose entity is NO_ID, like the root's. */
static void builder_add_tree(struct builder *b)
{
	const struct entity_tree *tree = b->tree;

	b->arc = xcalloc(b->tree->node_count, sizeof(*b->arc));
	for (uint32_t i = 1; i < tree->node_count; i++) {
		warm(b, i);
		b->arc[i] = entity_pairs_at(
			&b->pairs, tree->entity[entity_tree_parent(tree, i)], tree->entity[i]);
	}
}

/* Adds the pairs that were counted, and their calls. */
static void builder_add_counts(struct builder *b, const struct entity_arc *counted, size_t count)
{
	uint32_t *arc = xcalloc(count, sizeof(*arc));

	for (size_t i = 0; i < count; i++)
		arc[i] = entity_pairs_at(&b->pairs, counted[i].caller, counted[i].callee);
	entity_pairs_end(&b->pairs);
	if (count)
		b->calls = xcalloc(entity_pairs_count(&b->pairs), sizeof(*b->calls));
	for (size_t i = 0; i < count; i++) {
		struct callgraph_calls *calls = &b->calls[arc[i]];

		calls->is_known = true;
		calls->count += counted[i].calls;
	}
	free(arc);
}

static void builder_deinit(struct builder *b)
{
	entity_pairs_deinit(&b->pairs);
	free(b->calls);
	free(b->arc);
}

/* Whether stacks enter the node's unit here. */
static bool begins_run(
	const struct entity_tree *tree, const struct call_units *units, uint32_t node)
{
	uint32_t caller = tree->entity[entity_tree_parent(tree, node)];

	return caller == NO_ID || units->of[caller] != units->of[tree->entity[node]];
}

/* Replaces each node's own arc by that of its run. */
static void builder_find_runs(struct builder *b, const struct call_units *units)
{
	for (uint32_t i = 1; i < b->tree->node_count; i++)
		if (!begins_run(b->tree, units, i))
			b->arc[i] = b->arc[entity_tree_parent(b->tree, i)];
}

/* The figures of one metric's tree, in two arrays, which the caller frees. */
static struct call_figures builder_figures(
	const struct builder *b, const struct call_units *units, const struct entity_tree *tree)
{
	struct call_times *times = xcalloc(entity_pairs_count(&b->pairs), sizeof(*times));
	int64_t *self = xcalloc(tree->entity_count, sizeof(*self));

	for (uint32_t i = 1; i < tree->node_count; i++) {
		int64_t weight = entity_tree_weight(tree, i);
		struct call_times *run = &times[b->arc[i]];

		if (begins_run(tree, units, i))
			run->children += entity_tree_weight_below(tree, i);
		run->self += weight;
		run->children -= weight;
		self[tree->entity[i]] += weight;
	}
	return (struct call_figures){.total = tree->total, .self = self, .times = times};
}

static struct callgraph *builder_graph(struct builder *b, size_t limit, struct arena *arena)
{
	const struct entity_tree *tree = b->tree;
	size_t metric_count = tree->other_count + 1;
	struct call_figures *figures = xcalloc(metric_count, sizeof(*figures));
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
	builder_find_runs(b, &units);
	for (size_t k = 0; k < metric_count; k++)
		figures[k] = builder_figures(b, &units, k ? tree->others[k - 1] : tree);
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

	entity_pairs_init(&b.pairs, tree->entity_count, NULL, tree->node_count);
	builder_add_tree(&b);
	builder_add_counts(&b, counted, count);
	struct callgraph *graph = builder_graph(&b, limit, arena);
	builder_deinit(&b);
	return graph;
}
