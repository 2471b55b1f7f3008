#ifndef SONDE_ANALYSIS_CALLGRAPH_LAYOUT_STATE_H
#define SONDE_ANALYSIS_CALLGRAPH_LAYOUT_STATE_H

/* Shared by callgraph_layout.c, callgraph_lines.c and callgraph_order.c, and private to them. */

#include "analysis/callgraph_layout.h"
#include "base/vec.h"

/* A line in the making. */
struct draft {
	uint32_t slot; /* the slot whose entry it is in */
	enum callgraph_part part;
	uint32_t entity; /* as struct callgraph_line's */
	bool has_times;
	struct callgraph_calls calls, of;
};

/*
 * A slot is what may become an entry: slot e < entity_count is entity e's, those after it are the
 * cycles'.  Times are [slot * metric_count + metric], and likewise for drafts.
 */
struct layout {
	const struct call_arcs *arcs;
	const struct call_units *units;
	const struct call_figures *figures;
	size_t metric_count;
	uint32_t *cycle_of_unit; /* [unit]: its slot; NO_ID: not a cycle */
	/* [slot]: the entity whose name orders it; for a cycle, the first member by name. */
	uint32_t *entity;
	size_t slot_count;
	struct call_times *times;
	struct callgraph_calls *outside, *inside; /* [slot] */
	VEC(struct draft) drafts;
	VEC(struct call_times) draft_times;
	bool *is_kept;	 /* [slot] */
	uint32_t *order; /* [entry]: its slot */
	size_t entry_count, shown_count;
	uint32_t *entry; /* [slot]; NO_ID: left out */
};

static inline void calls_add(struct callgraph_calls *sum, struct callgraph_calls more)
{
	sum->is_known |= more.is_known;
	sum->count += more.count;
}

static inline void times_add(struct call_times *sum, const struct call_times *more)
{
	sum->self += more->self;
	sum->children += more->children;
}

static inline const struct call_times *draft_times(const struct layout *l, size_t draft)
{
	return &l->draft_times.data[draft * l->metric_count];
}

static inline bool times_are_zero(const struct call_times *times, size_t count)
{
	for (size_t k = 0; k < count; k++)
		if (times[k].self != 0 || times[k].children != 0)
			return false;
	return true;
}

/* The slot of the cycle that a slot is a member of; NO_ID: none. */
uint32_t layout_cycle_of(const struct layout *l, uint32_t slot);
/*
 * The key that times are ordered by, descending: self + children, in a difference its absolute
 * value.
 */
int64_t layout_order_weight(const struct layout *l, const struct call_times *times);
/* Makes the drafts: all lines of the entries that are shown, in no particular order. */
void layout_draft(struct layout *l);
/* Orders the kept slots: sets order, entry_count and entry. */
void layout_order(struct layout *l);

#endif
