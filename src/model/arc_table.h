#ifndef SONDE_MODEL_ARC_TABLE_H
#define SONDE_MODEL_ARC_TABLE_H

/*
 * The arcs of a profile while it is built: calls of each pair of functions, and what they cost.
 * For model/builder alone.
 */

#include "base/row_table.h"
#include "model/profile.h"
#include "model/weight_rows.h"

struct arc_table {
	struct row_table arcs; /* of struct arc, one for each pair */
	struct weight_rows costs;
	uint32_t before;    /* the arc added last; UINT32_MAX: none yet */
	uint64_t calls_sum; /* stays at UINT64_MAX */
};

void arc_table_deinit(struct arc_table *t);
/* cost[metric_count], the same count in all calls; NULL: not measured.  Returns its number. */
uint32_t arc_table_add(struct arc_table *t, function_id caller, function_id callee, uint64_t calls,
	const int64_t *cost, size_t metric_count);
bool arc_table_has(const struct arc_table *t, function_id caller, function_id callee);
/* Whether the sum of the calls fits in 63 bits. */
bool arc_table_calls_fit(const struct arc_table *t);
/* Whether the costs in that metric fit, with `more`: a function's inclusive figure has both. */
bool arc_table_costs_fit(
	const struct arc_table *t, size_t metric, const struct weight_bounds *more);
/* Moves the arcs into the profile, whose arena owns them. */
void arc_table_freeze(struct arc_table *t, struct profile *p);

#endif
