#ifndef SONDE_ANALYSIS_PROPAGATE_H
#define SONDE_ANALYSIS_PROPAGATE_H

/*
 * The call graph of a profile that has no stacks, estimated from counts of calls as gprof does
 * (semantics.md section 3).
 */

#include "analysis/callgraph.h"

/*
 * What was spent in a unit (a function, or a cycle of them) and below it is shared equally among
 * the calls to it from outside; calls within a unit carry nothing.  So one walk over the units,
 * callees before callers, suffices.  A unit without known callers has <spontaneous> as its caller.
 *
 * Shares are whole numbers: the calls to a unit are ordered by callee and caller, and call k of n
 * gets ⌊k·w/n⌋ - ⌊(k-1)·w/n⌋ of the weight w.  So nothing is lost or made up, callers sum to self +
 * children exactly, and each arc is less than one off its share.
 *
 * tree gives each entity's own weight, also in the others; its callers there are ignored.  counted
 * as in callgraph_analyse.  is_estimated is set.  Lives in the arena; entities are the tree's.
 * Linear in entities and arcs, except for sorting.
 */
must_use struct callgraph *callgraph_propagate(const struct entity_tree *tree,
	const struct entity_arc *counted, size_t count, struct arena *arena);

#endif
