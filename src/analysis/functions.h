#ifndef SONDE_ANALYSIS_FUNCTIONS_H
#define SONDE_ANALYSIS_FUNCTIONS_H

/*
 * Exclusive and inclusive weight of every entity (semantics.md section 1): exclusive counts the
 * stacks whose leaf it is, inclusive each stack that contains it, once.  Without stacks, inclusive
 * is the measured cost of calls (measured.h), or estimated from counts of calls (propagate.h), and
 * not known if there are none.
 */

#include "analysis/entity_tree.h"

struct function_row {
	uint32_t entity; /* for entity_tree_entity: may be entity_spontaneous, which has exclusive
			  * only
			  */
	bool is_bound;	 /* inclusive is an upper bound in some metric (measured.h) */
	int64_t exclusive, inclusive;
	uint64_t calls; /* from other entities; UINT64_MAX: not counted */
};

struct functions {
	const struct entity_tree *tree;
	/*
	 * By exclusive, then inclusive, both descending, then the same of the tree's others in
	 * turn, then as entity_compare.
	 */
	const struct function_row *rows;
	size_t count;			    /* rows whose figures are all zero are left out */
	bool knows_inclusive, is_estimated; /* inclusive */
	bool is_measured;		    /* inclusive is the measured cost of calls */
	size_t bound_count;		    /* rows whose inclusive is a bound */
	/* Rows whose inclusive is above the total, as the measured calls cost more. */
	size_t above_count;
	bool has_calls; /* some rows' calls are known */
	/* [tree->other_count] The same rows with the others' figures; they have no others. */
	const struct functions *const *others;
};

/* Linear in tree->node_count, except for sorting.  Lives in the arena. */
must_use struct functions *functions_analyse(const struct entity_tree *tree, struct arena *arena);

#endif
