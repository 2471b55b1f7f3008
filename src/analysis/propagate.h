#ifndef SONDE_ANALYSIS_PROPAGATE_H
#define SONDE_ANALYSIS_PROPAGATE_H

/*
 * The call graph of a profile that has no stacks, estimated from counts of calls as gprof does
 * (semantics.md section 3).
 */

#include "analysis/callgraph.h"

/*
 * What was spent in a unit (a function, or a cycle of them) and below it is shared out among the
 * calls to it from outside, each the same; calls within a unit carry nothing.  So callees come
 * before callers, and one walk over the units in that order does it.  A unit that nobody called, as
 * far as is known, has <spontaneous> for a caller.
 *
 * Shares are whole numbers: the calls to a unit are put in a row, by callee and caller, and call k
 * of n gets what ⌊k·w/n⌋ has more than ⌊(k-1)·w/n⌋ of the weight w.  So nothing is lost or made up,
 * callers sum to self + children exactly, and no arc is off its share by one.
 *
 * tree gives each entity's own weight, in the others too; where it is called from is of no
 * account.  counted as in callgraph_analyse.  is_estimated is set.  Lives in the arena; entities
 * are the tree's.  Linear in entities and arcs, but for sorting.
 */
must_use struct callgraph *callgraph_propagate(const struct entity_tree *tree,
	const struct entity_arc *counted, size_t count, struct arena *arena);

#endif
