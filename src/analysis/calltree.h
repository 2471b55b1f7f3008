#ifndef SONDE_ANALYSIS_CALLTREE_H
#define SONDE_ANALYSIS_CALLTREE_H

/*
 * Puma's call tree with recursion collapsed (semantics.md section 2): stacks are played into a
 * tree; a frame that recurs becomes a stub that points at the node of its earlier occurrence, and
 * the play continues from there.
 */

#include "analysis/entity_tree.h"

enum collapse {
	COLLAPSE_NONE,
	COLLAPSE_DIRECT,
	COLLAPSE_CONSERVATIVE,
	COLLAPSE_FULL,
	COLLAPSE_COUNT
};
/* "none", "direct", "conservative", "full". */
extern const char *const collapse_names[COLLAPSE_COUNT + 1]; /* NULL at the end */

enum calltree_order {
	/*
	 * direct + indirect descending, ties by that of the tree's others in turn, then by name;
	 * stubs last, by name.
	 */
	CALLTREE_BY_WEIGHT,
	CALLTREE_FIRST_SEEN, /* every row, stubs included, where it was first seen */
	CALLTREE_BY_CHANGE,  /* by absolute weight: for differences */
};

struct calltree_row {
	uint32_t level;	 /* the root's children are 1 */
	uint32_t parent; /* row, or NO_ID at level 1 */
	uint32_t entity;
	bool is_stub;
	uint32_t target; /* a stub's: the row it points at, its parent or one above; else NO_ID */
	uint32_t stub;	 /* a stub's index in calltree.stubs; else NO_ID */
	/* Zero for stubs. */
	int64_t direct;	  /* stacks that reached the row before any jump */
	int64_t indirect; /* stacks that first reached it after a jump */
	int64_t in_only;  /* stacks that end here */
};

/* What is shown about a stub on request. */
struct calltree_stub {
	int64_t weight;	    /* stacks that jumped here, once each */
	uint32_t jumps_max; /* most jumps here in one stack: the depth of the recursion */
	double jumps_mean;  /* over the weight; 0 where that is 0 */
};

/*
 * Which rows are wanted: the heaviest, by direct + indirect, with all their ancestors; of equals
 * the first in pre-order.
 */
struct calltree_limit {
	size_t rows; /* 0: all */
	/* Whether the others are still made, for callers that need something from all of them. */
	bool keeps_others;
	/* Whether the rows that are made have widths; not if weights are negative. */
	bool has_widths;
};

struct calltree {
	const struct entity_tree *tree;
	enum collapse collapse;
	/*
	 * Pre-order.  Nodes and stubs whose figures are all zero, also in the tree's others, are
	 * left out unless a row below stays.  Sum of in_only = tree->total - tree->nodes[0].weight,
	 * the weight of empty stacks.
	 */
	const struct calltree_row *rows;
	size_t count;
	size_t whole_count;    /* rows of the whole tree */
	const uint32_t *shown; /* [shown_count] rows that the limit chose, ascending; NULL: all */
	size_t shown_count;
	uint32_t level_max; /* of the rows made */
	/*
	 * [count] What was spent in the row's node and in all nodes below it, made or not: the
	 * width of its box in a flame graph.  NULL: all rows are made, or it was not asked for.
	 */
	const int64_t *widths;
	const struct calltree_stub *stubs;
	size_t stub_count;
	/* [tree->other_count] The same rows with the others' figures; they have no others. */
	const struct calltree *const *others;
};

/*
 * Near-linear in tree->node_count, whatever the depth.  limit NULL: all rows.  Lives in the arena.
 */
must_use struct calltree *calltree_analyse(const struct entity_tree *tree, enum collapse collapse,
	enum calltree_order order, const struct calltree_limit *limit, struct arena *arena);

/*
 * The same for trees with the same nodes (entity_tree_weigh), one after another: *kept is what they
 * share, NULL at first, and made again for another degree.  Not by CALLTREE_FIRST_SEEN.
 */
struct play;
must_use struct calltree *calltree_analyse_keeping(const struct entity_tree *tree,
	enum collapse collapse, enum calltree_order order, const struct calltree_limit *limit,
	struct play **kept, struct arena *arena);
/* Frees what is kept; NULL is allowed. */
void calltree_forget(struct play *kept);

/*
 * The least direct + indirect weight of the nodes that are made: no weight, and no width, of those
 * that a limit leaves out is more.  UINT64_MAX without nodes.
 */
uint64_t calltree_least_weight(const struct calltree *tree);

#endif
