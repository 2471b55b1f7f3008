#ifndef SONDE_ANALYSIS_CALLERS_WALK_H
#define SONDE_ANALYSIS_CALLERS_WALK_H

/* The sums of a callers analysis, before they are rows.  For callers.c alone. */

#include "analysis/centre.h"
#include "analysis/entity_pairs.h"
#include "base/vec.h"

/* An edge has different sums at its two ends (semantics.md section 1). */
enum callers_side {
	SIDE_CALLERS, /* among the callers of the edge's callee */
	SIDE_CALLEES, /* among the callees of its caller */
	SIDE_COUNT
};

/* In place of an entity: the walk's own centre. */
#define EDGE_CENTRE (NO_ID - 1)

struct callers_step;

/*
 * Figures are stored side by side for each metric, the tree's own first.  If weights can cancel,
 * the number of distinct stacks with weight follows them in `attributed`.  During the walk they are
 * sums modulo 2^64; at its end they are right.
 */
struct callers_walk {
	const struct entity_tree *tree;
	const struct centre *centre; /* NULL: each entity is a centre, with the same number */
	const bool *chosen;	     /* [entity] the centres that are wanted; NULL: all */
	size_t metric_count;	     /* including the others' */
	size_t width;		     /* metric_count, and 1 if stacks are counted */
	size_t centre_count;
	uint32_t *rank; /* [entity + 1] the entity's place by name, with <Total>, NO_ID + 1 = 0 */
	struct entity_pairs edges;	 /* from is NO_ID for <Total> */
	VEC(uint64_t) attributed;	 /* [edge][side][width] */
	uint64_t *exclusive, *inclusive; /* [centre][metric_count] */

	/* During the walk. */
	uint32_t *stacks_before;   /* [end + 1] ends with weight in some metric before it */
	bool has_weightless;	   /* some end has no weight */
	uint32_t *innermost;	   /* [centre]: depth of its last occurrence on the path; 0: none */
	struct callers_step *path; /* [depth] */
	uint64_t *weights;	   /* [width] of the current node */
};

void callers_walk_init(struct callers_walk *walk, const struct entity_tree *tree,
	const struct centre *centre, const bool *chosen);
void callers_walk_deinit(struct callers_walk *walk);
/* Whether a weight is negative in any of the tree's metrics. */
bool callers_walk_has_negative(const struct entity_tree *tree);

/* Whether an entity, perhaps <Total>, is a wanted centre. */
static inline bool callers_walk_wants(const struct callers_walk *walk, uint32_t entity)
{
	return walk->chosen == NULL || (entity != NO_ID && walk->chosen[entity]);
}

/* A line is one side of an edge: number edge * SIDE_COUNT + side. */
static inline int64_t callers_walk_attributed(
	const struct callers_walk *walk, size_t line, size_t metric)
{
	return (int64_t)walk->attributed.data[line * walk->width + metric];
}
/* Whether it is 0 in all metrics. */
static inline bool callers_walk_is_zero(const struct callers_walk *walk, size_t line)
{
	for (size_t m = 0; m < walk->metric_count; m++)
		if (callers_walk_attributed(walk, line, m) != 0)
			return false;
	return true;
}
/* Whether no stack is attributed to it. */
static inline bool callers_walk_is_recursive(const struct callers_walk *walk, size_t line)
{
	return walk->width == walk->metric_count
		       ? callers_walk_is_zero(walk, line)
		       : callers_walk_attributed(walk, line, walk->metric_count) == 0;
}

/* The name of <Total>, NO_ID. */
#define CALLERS_TOTAL STR("<Total>")

/* Walks the whole tree. */
void callers_walk_run(struct callers_walk *walk);
/* Used instead if there are no stacks, but calls have costs (tree->arc_cost). */
void callers_walk_measured(struct callers_walk *walk);
/* The edge's number; a new edge starts with sums of 0. */
uint32_t callers_walk_edge_at(struct callers_walk *walk, uint32_t from, uint32_t to);

static inline const struct entity_pair *callers_walk_edge(
	const struct callers_walk *walk, uint32_t edge)
{
	return entity_pairs_pair(&walk->edges, edge);
}

static inline const struct entity_tree *callers_walk_tree(
	const struct callers_walk *walk, size_t metric)
{
	return metric == 0 ? walk->tree : walk->tree->others[metric - 1];
}

#endif
