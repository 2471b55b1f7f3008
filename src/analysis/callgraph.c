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
#include "base/alloc.h"
#include "base/hash.h"
#include "base/row_table.h"

struct builder {
	const struct entity_tree *tree;
	struct row_table arcs; /* of struct call_arc */
	uint32_t *arc;	       /* [node]: the arc that leads to it, later to its run's first node */
};

static uint64_t arc_hash(const void *row)
{
	const struct call_arc *a = row;

	return hash_u64((uint64_t)a->caller << 32 | a->callee);
}

static bool arc_same(const void *a, const void *b)
{
	const struct call_arc *x = a, *y = b;

	return x->caller == y->caller && x->callee == y->callee;
}

static const struct row_kind arc_rows = {sizeof(struct call_arc), arc_hash, arc_same};

static uint32_t builder_arc(struct builder *b, uint32_t caller, uint32_t callee)
{
	struct call_arc arc = {.caller = caller, .callee = callee};

	return row_table_intern(&b->arcs, &arc_rows, &arc);
}

/* A node below the root has the arc from <spontaneous>, whose entity is NO_ID, like the root's. */
static void builder_add_tree(struct builder *b)
{
	const struct entity_tree *tree = b->tree;

	b->arc = xcalloc(b->tree->node_count, sizeof(*b->arc));
	for (uint32_t i = 1; i < tree->node_count; i++)
		b->arc[i] =
			builder_arc(b, tree->entity[entity_tree_parent(tree, i)], tree->entity[i]);
}

static void builder_add_counts(struct builder *b, const struct entity_arc *counted, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t arc = builder_arc(b, counted[i].caller, counted[i].callee);
		struct callgraph_calls *calls = &((struct call_arc *)b->arcs.rows)[arc].calls;

		calls->is_known = true;
		calls->count += counted[i].calls;
	}
}

static void builder_deinit(struct builder *b)
{
	row_table_deinit(&b->arcs);
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
	struct call_times *times = xcalloc(b->arcs.count, sizeof(*times));
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

static struct callgraph *builder_graph(struct builder *b, struct arena *arena)
{
	const struct entity_tree *tree = b->tree;
	size_t metric_count = tree->other_count + 1;
	struct call_figures *figures = xcalloc(metric_count, sizeof(*figures));
	struct call_arcs arcs = {
		.entities = tree->entities,
		.entity_count = tree->entity_count,
		.arcs = b->arcs.rows,
		.count = b->arcs.count,
		.is_difference = tree->is_difference,
	};
	struct call_units units;

	call_units_init(&units, &arcs);
	builder_find_runs(b, &units);
	for (size_t k = 0; k < metric_count; k++)
		figures[k] = builder_figures(b, &units, k ? tree->others[k - 1] : tree);
	struct callgraph *graph = callgraph_layout(&arcs, &units, figures, metric_count, arena);
	for (size_t k = 0; k < metric_count; k++) {
		free((void *)figures[k].self);
		free((void *)figures[k].times);
	}
	free(figures);
	call_units_deinit(&units);
	return graph;
}

struct callgraph *callgraph_analyse(const struct entity_tree *tree,
	const struct entity_arc *counted, size_t count, struct arena *arena)
{
	struct builder b = {.tree = tree};

	builder_add_tree(&b);
	builder_add_counts(&b, counted, count);
	struct callgraph *graph = builder_graph(&b, arena);
	builder_deinit(&b);
	return graph;
}
