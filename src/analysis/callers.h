#ifndef SONDE_ANALYSIS_CALLERS_H
#define SONDE_ANALYSIS_CALLERS_H

/*
 * Who calls an entity, whom it calls, and on whose behalf its weight was spent: Sun's attributed
 * metrics (semantics.md section 1).  A stack is attributed once for each centre in it, at the
 * centre's innermost occurrence: to the frame before it and to the one after it.  So the callers'
 * weights sum to the inclusive weight, and so do the exclusive weight and the callees'; in
 * integers, under any recursion.
 *
 * Without stacks, lines are the measured costs of calls (measured.h); between members of a cycle,
 * where costs overlap, they are shares of the rest.
 */

#include "analysis/centre.h"
#include "analysis/functions.h"
#include "analysis/entity_tree.h"

/* A caller or a callee of a centre. */
struct callers_line {
	uint32_t entity; /* NO_ID, for a caller only, <Total>: the centre is at the root */
	/*
	 * Stacks pass here, but each of them reaches the centre again further in: the weight is
	 * counted there, and is 0 here.
	 */
	bool is_recursive;
	int64_t attributed;
};

struct callers_row {
	uint32_t entity; /* the centre; NO_ID: the analysis's own centre */
	int64_t exclusive, inclusive;
	uint32_t first_line; /* in lines: its callers, then its callees */
	uint32_t caller_count, callee_count;
};

struct callers {
	const struct entity_tree *tree;
	const struct centre *centre; /* the only one; NULL: every entity is one */
	/*
	 * By exclusive, then inclusive weight, descending (in a difference, by absolute value),
	 * ties by those of the tree's others in turn, then by name.  Rows that are zero in all
	 * figures of all metrics are left out.
	 */
	const struct callers_row *rows;
	size_t count;
	size_t left_out; /* further rows, left out by a limit */
	/*
	 * Within a row's callers or callees: by attributed weight, in the same way; recursive ones
	 * last.  Lines that are zero in all metrics are left out, except recursive ones, which are
	 * found from the stacks of all metrics.
	 */
	const struct callers_line *lines;
	size_t line_count;
	/* [tree->other_count] The same rows and lines with the others' figures. */
	const struct callers *const *others;
};

/*
 * centre: NULL for each entity of the tree separately.  Near-linear in tree->node_count, whatever
 * the depth and the number of centres.  Lives in the arena; tree and centre must live as long.
 */
must_use struct callers *callers_analyse(
	const struct entity_tree *tree, const struct centre *centre, struct arena *arena);
/*
 * The first `limit` of the rows for each entity, 0: all.  functions: the tree's.  If these
 * determine which rows come first, the callers and callees of others are not computed, so a
 * screenful does not need millions of different calls in memory.  If weights are negative or no
 * stacks are known they do not, and all rows are made.
 */
must_use struct callers *callers_analyse_first(const struct entity_tree *tree,
	const struct functions *functions, size_t limit, struct arena *arena);

/* The sums over a row's lines. */
int64_t callers_sum_callers(const struct callers *callers, const struct callers_row *row);
int64_t callers_sum_callees(const struct callers *callers, const struct callers_row *row);
/* Whether sum callers = inclusive = exclusive + sum callees, for each row and metric. */
bool callers_check(const struct callers *callers);

#endif
