/*
 * Detects a missing Prof_End in code that runs every frame: it makes the stack grow by the same
 * zones from one Prof_update to the next.  A correct program can also grow this way for a while, by
 * calling Prof_update from deeper and deeper loops, so only eight times in a row count as an error.
 */
#include "zones/runtime.h"

enum { REPEATS = 8 };

/* Whether the last `size` zones of the stacks at a and at b are the same. */
static bool is_same_tail(const Prof_Zone_Stack *a, const Prof_Zone_Stack *b, uint32_t size)
{
	for (; size; size--, a = a->up, b = b->up) {
		if (!a || !b || a->zone != b->zone)
			return false;
	}
	return true;
}

static Prof_Zone_Stack *above(Prof_Zone_Stack *node, uint32_t levels)
{
	while (levels-- && node->up)
		node = node->up;
	return node;
}

static void stack_check(Prof_Thread_ *t, struct zones_slot *slot)
{
	Prof_Zone_Stack *top = t->top, *last = slot->update_top, *base;
	uint32_t growth = 0;

	if (last && last->depth < top->depth && above(top, top->depth - last->depth) == last)
		growth = top->depth - last->depth;
	if (!growth)
		slot->update_repeats = 0;
	else if (growth == slot->update_growth && is_same_tail(top, last, growth))
		slot->update_repeats++;
	else
		slot->update_repeats = 1;
	slot->update_growth = growth;
	slot->update_top = top;
	if (slot->update_repeats < REPEATS)
		return;
	base = above(top, growth * slot->update_repeats);
	zones_trouble_end(ZONEWIRE_MISSING_END, growth * slot->update_repeats,
		above(top, growth - 1)->zone, ZONEWIRE_ZONE_UPDATE);
	zones_pop_to(t, base);
	slot->update_top = base;
	slot->update_repeats = 0;
}

/* The same while entries are skipped: a missing end would keep them skipped for ever. */
static uint32_t skipped_check(struct zones_slot *slot, uint32_t skipped)
{
	if (skipped <= slot->update_skipped || !slot->skipped_repeats) {
		slot->skipped_repeats = skipped > slot->update_skipped;
		slot->skipped_base = slot->update_skipped;
	} else if (++slot->skipped_repeats >= REPEATS) {
		zones_trouble(ZONEWIRE_MISSING_END, skipped - slot->skipped_base);
		skipped = slot->skipped_base;
		slot->skipped_repeats = 0;
	}
	slot->update_skipped = skipped;
	return skipped;
}

void zones_drift_check(void)
{
	Prof_Thread_ *t = &Prof_thread_;
	uint32_t skipped;

	/* First, because a child that no fork handler saw no longer has a slot. */
	zones_look_home(t);
	if (!zones_slot_of(t) || zones_is_amid(t) || !zones_hold(t, &skipped))
		return;
	stack_check(t, zones_slot_of(t));
	skipped = skipped_check(zones_slot_of(t), skipped);
	zones_release(t, skipped);
}
