#ifndef SONDE_ANALYSIS_FLAME_H
#define SONDE_ANALYSIS_FLAME_H

/*
 * The layout of a flame graph: each node of a call tree is a box above its caller's, as wide as the
 * weight of the stacks that reach it (B. Gregg, "The Flame Graph", CACM 59(6), 2016).
 */

#include "analysis/calltree.h"

struct flame_box {
	uint32_t row;	/* of the call tree; NO_ID: the root, of all stacks */
	uint32_t depth; /* the root's is 0 */
	/*
	 * Between 0 and the root's width.  A box's children lie side by side from its start; what
	 * they leave free at its end is its own weight.
	 */
	uint64_t start, width;
	int64_t weight; /* in it or under it; where no weight is negative, that is the width */
};

struct flame {
	/*
	 * Pre-order; none has width 0, except perhaps the root, which always exists.  Rows that
	 * are not made have none, and leave their room free.
	 */
	const struct flame_box *boxes;
	size_t count; /* at least 1 */
	uint32_t depth_max;
};

/*
 * Lays out the call tree's nodes; stubs get no box.  widths: the tree itself, or one of its others,
 * whose weights give the boxes' widths while the tree's own are their weights: for a difference,
 * the new one.  Widths use absolute values, so that weights that cancel are visible.  The width of
 * a collapsed tree's node is what was spent in it and in the nodes below it; if not all rows are
 * made, the tree must have these widths itself (calltree_limit).  Lives in the arena.  Linear in
 * the rows, whatever the depth.
 */
must_use struct flame *flame_lay_out(
	const struct calltree *tree, const struct calltree *widths, struct arena *arena);

#endif
