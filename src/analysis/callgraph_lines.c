/*
 * The lines of the call graph's entries, unordered.
 *
 * An arc between units has one pair of figures, what was spent on its behalf, and is in two entries
 * at least: among the callees of its caller, among the callers of its callee, and in the same way
 * in the entries of the cycles that these are in, where arcs that meet are one line.  An arc within
 * a unit has calls only.
 */
#include "analysis/callgraph_layout_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"

/* Whether the slot's entry is to have its lines. */
static bool is_shown(const struct layout *l, uint32_t slot)
{
	return l->entry[slot] < l->shown_count; /* NO_ID is not */
}

/* Adds a draft without times; returns its number. */
static size_t layout_add_draft(struct layout *l, const struct draft *draft)
{
	vec_push(&l->drafts, *draft);
	for (size_t k = 0; k < l->metric_count; k++)
		vec_push(&l->draft_times, (struct call_times){0});
	return l->drafts.count - 1;
}

/* The drafts of cycles' lines, in which several arcs merge. */
struct merge {
	struct layout *l;
	struct map drafts; /* by slot and part, and entity */
};

static size_t merge_draft(struct merge *m, const struct draft *draft)
{
	bool added;
	uint32_t *number =
		map_at(&m->drafts, (uint64_t)draft->slot * CALLGRAPH_PART_COUNT + draft->part,
			draft->entity, (uint32_t)m->l->drafts.count, &added);

	return added ? layout_add_draft(m->l, draft) : *number;
}

static void merge_arc(
	struct merge *m, size_t arc, uint32_t slot, enum callgraph_part part, bool is_cycle)
{
	struct layout *l = m->l;

	if (!is_shown(l, slot))
		return;
	const struct entity_pair *a = &l->arcs->arcs[arc];
	struct draft draft = {.slot = slot, .part = part, .has_times = true};

	draft.entity = part == CALLGRAPH_CALLERS ? a->caller : a->callee;
	size_t number = is_cycle ? merge_draft(m, &draft) : layout_add_draft(l, &draft);
	calls_add(&l->drafts.data[number].calls, call_arcs_calls(l->arcs, arc));
	for (size_t k = 0; k < l->metric_count; k++)
		times_add(&l->draft_times.data[number * l->metric_count + k],
			&l->figures[k].times[arc]);
}

/* The lines of an arc between units. */
static void merge_outer(struct merge *m, size_t arc)
{
	const struct entity_pair *a = &m->l->arcs->arcs[arc];
	uint32_t callee_cycle = layout_cycle_of(m->l, a->callee), caller_cycle;

	merge_arc(m, arc, a->callee, CALLGRAPH_CALLERS, false);
	if (callee_cycle != NO_ID)
		merge_arc(m, arc, callee_cycle, CALLGRAPH_CALLERS, true);
	if (a->caller == NO_ID)
		return;
	merge_arc(m, arc, a->caller, CALLGRAPH_CALLEES, false);
	caller_cycle = layout_cycle_of(m->l, a->caller);
	if (caller_cycle != NO_ID)
		merge_arc(m, arc, caller_cycle, CALLGRAPH_CALLEES, true);
}

/* The lines of an arc between members of a cycle; calls to itself have none. */
static void layout_add_inner(struct layout *l, size_t arc)
{
	const struct entity_pair *a = &l->arcs->arcs[arc];
	struct callgraph_calls calls = call_arcs_calls(l->arcs, arc);

	if (a->caller == a->callee)
		return;
	if (is_shown(l, a->callee))
		layout_add_draft(l, &(struct draft){.slot = a->callee,
					    .part = CALLGRAPH_CALLERS,
					    .entity = a->caller,
					    .calls = calls});
	if (is_shown(l, a->caller))
		layout_add_draft(l, &(struct draft){.slot = a->caller,
					    .part = CALLGRAPH_CALLEES,
					    .entity = a->callee,
					    .calls = calls});
}

/* Calls from members are a member's calls other than those from outside. */
static void layout_add_members(struct layout *l)
{
	struct callgraph_calls *calls = xcalloc(l->arcs->entity_count, sizeof(*calls));

	for (size_t i = 0; i < l->arcs->count; i++) {
		const struct entity_pair *a = &l->arcs->arcs[i];

		if (!call_units_crosses(l->units, a))
			calls_add(&calls[a->callee], call_arcs_calls(l->arcs, i));
	}
	for (uint32_t i = 0; i < l->arcs->entity_count; i++) {
		uint32_t cycle = layout_cycle_of(l, i);

		if (cycle == NO_ID || !is_shown(l, cycle))
			continue;
		calls[i].is_known |= l->outside[i].is_known;
		size_t number = layout_add_draft(l, &(struct draft){.slot = cycle,
							    .part = CALLGRAPH_MEMBERS,
							    .entity = i,
							    .has_times = true,
							    .calls = calls[i]});
		memcpy(&l->draft_times.data[number * l->metric_count],
			&l->times[i * l->metric_count], l->metric_count * sizeof(*l->times));
	}
	free(calls);
}

/* Drops lines that are all zero, except those of members and between members. */
static void layout_drop_zero(struct layout *l)
{
	size_t count = 0, times_size = l->metric_count * sizeof(struct call_times);

	for (size_t i = 0; i < l->drafts.count; i++) {
		struct draft *d = &l->drafts.data[i];

		if (d->has_times && d->part != CALLGRAPH_MEMBERS && d->calls.count == 0 &&
			times_are_zero(draft_times(l, i), l->metric_count))
			continue;
		l->drafts.data[count] = *d;
		memmove(&l->draft_times.data[count * l->metric_count], draft_times(l, i),
			times_size);
		count++;
	}
	l->drafts.count = count;
	l->draft_times.count = count * l->metric_count;
}

/* `of` is the number of all calls to the unit. */
static void layout_add_of(struct layout *l)
{
	for (size_t i = 0; i < l->drafts.count; i++) {
		struct draft *d = &l->drafts.data[i];
		uint32_t callee = d->part == CALLGRAPH_CALLERS ? d->slot : d->entity;
		uint32_t cycle = layout_cycle_of(l, callee);

		if (d->has_times && d->part != CALLGRAPH_MEMBERS && d->calls.is_known)
			d->of = l->outside[cycle == NO_ID ? callee : cycle];
	}
}

void layout_draft(struct layout *l)
{
	struct merge merge = {.l = l};

	for (size_t i = 0; i < l->arcs->count; i++)
		if (call_units_crosses(l->units, &l->arcs->arcs[i]))
			merge_outer(&merge, i);
		else
			layout_add_inner(l, i);
	map_deinit(&merge.drafts);
	layout_add_members(l);
	layout_drop_zero(l);
	layout_add_of(l);
}
