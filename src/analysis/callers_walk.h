#ifndef SONDE_ANALYSIS_CALLERS_WALK_H
#define SONDE_ANALYSIS_CALLERS_WALK_H

/* The sums of a callers analysis, before they are rows.  For callers.c alone. */

#include "analysis/centre.h"
#include "base/row_table.h"
#include "base/vec.h"

/* The two ends of an edge see different sums of it (semantics.md section 1). */
enum callers_side {
	SIDE_CALLERS, /* among the callers of the edge's end */
	SIDE_CALLEES, /* among the callees of its beginning */
	SIDE_COUNT
};

/* In place of an entity: the walk's own centre. */
#define EDGE_CENTRE (NO_ID - 1)

/* A call, from entity to entity; from NO_ID: <Total>. */
struct callers_edge {
	uint32_t from, to;
};

struct callers_step;

/*
 * Figures stand side by side for each metric, the tree's own first; behind them, in `attributed`,
 * the number of distinct stacks that have weight.  They are sums modulo 2^64 on the way, and right
 * in the end.
 */
struct callers_walk {
	const struct entity_tree *tree;
	const struct centre *centre; /* NULL: each entity is a centre, and has its number */
	const bool *chosen;	     /* [entity] the centres that are wanted; NULL: all */
	size_t metric_count;	     /* the others' included */
	size_t centre_count;
	struct row_table edges;		 /* of struct callers_edge */
	VEC(uint64_t) attributed;	 /* [edge][side][metric_count + 1] */
	uint64_t *exclusive, *inclusive; /* [centre][metric_count] */

	/* On the way. */
	uint32_t *stacks_below;	   /* [node]: stacks with weight that end here or below */
	uint32_t *innermost;	   /* [centre]: depth of its last occurrence on the path; 0: none */
	struct callers_step *path; /* [depth] */
	uint64_t *weights;	   /* [metric_count + 1] of the node that is looked at */
};

void callers_walk_init(
	struct callers_walk *walk, const struct entity_tree *tree, const struct centre *centre);
void callers_walk_deinit(struct callers_walk *walk);

/* Whether an entity, which may be <Total>, is a centre that is wanted. */
static inline bool callers_walk_wants(const struct callers_walk *walk, uint32_t entity)
{
	return walk->chosen == NULL || (entity != NO_ID && walk->chosen[entity]);
}

/* Goes over the whole tree. */
void callers_walk_run(struct callers_walk *walk);
/* In place of that, where there are no stacks, but calls have costs (tree->arc_cost). */
void callers_walk_measured(struct callers_walk *walk);
/* The edge's number, made at first sight with sums of 0. */
uint32_t callers_walk_edge_at(struct callers_walk *walk, uint32_t from, uint32_t to);

static inline const struct callers_edge *callers_walk_edge(
	const struct callers_walk *walk, uint32_t edge)
{
	return &((const struct callers_edge *)walk->edges.rows)[edge];
}

static inline const struct entity_tree *callers_walk_tree(
	const struct callers_walk *walk, size_t metric)
{
	return metric == 0 ? walk->tree : walk->tree->others[metric - 1];
}

#endif
