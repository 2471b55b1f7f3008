#ifndef SONDE_ANALYSIS_FLAME_H
#define SONDE_ANALYSIS_FLAME_H

/*
 * The layout of a flame graph: each node of a call tree is a box above its caller's, as wide as the
 * weight of the stacks that come there (B. Gregg, "The Flame Graph", CACM 59(6), 2016).
 */

#include "analysis/calltree.h"

struct flame_box {
	uint32_t row;	/* of the call tree; NO_ID: the root, of all stacks */
	uint32_t depth; /* the root's is 0 */
	/*
	 * On the line from 0 to the root's width.  A box's children lie side by side from its start
	 * on; what they leave free at its end is its own.
	 */
	uint64_t start, width;
	int64_t weight; /* in it or under it; where no weight is negative, that is the width */
};

struct flame {
	/* Pre-order; none of width 0, but for the root, which is always there. */
	const struct flame_box *boxes;
	size_t count; /* at least 1 */
	uint32_t depth_max;
};

/*
 * Lays out the call tree's nodes; stubs are none.  widths: the tree itself, or one of its others by
 * whose weights boxes are wide, with those of the tree itself as weights: of a difference the new
 * one.  Widths are of absolute values, so that what sums up to nothing is seen, too.  The width of
 * a collapsed tree's node is what was spent in it and in the nodes below it.
 * Lives in the arena.  Linear in the rows, whatever the depth.
 */
must_use struct flame *flame_lay_out(
	const struct calltree *tree, const struct calltree *widths, struct arena *arena);

#endif
