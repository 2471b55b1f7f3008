/*
 * Fibers: zone stacks that move between threads.  While a fiber is not current in any thread, all
 * its zones are closed, so that they take no time; they are opened again when it continues.
 */
#include <stdlib.h>

#include "zones/runtime.h"

struct Prof_Fiber {
	struct zones_slot *slot; /* NULL: no room; all its zones are skipped */
	uint32_t skipped;	 /* while it is not current */
};

Prof_Fiber *Prof_fiber_create(const char *name)
{
	Prof_Thread_ *t = &Prof_thread_;
	Prof_Fiber *fiber = calloc(1, sizeof(*fiber));
	uint32_t skipped;

	if (!fiber)
		return NULL;
	if (zones_hold(t, &skipped)) {
		zones_lock();
		if (zones_memory_make())
			fiber->slot = zones_slot_take(ZONEWIRE_SLOT_FIBER, 0, name ? name : "");
		if (fiber->slot)
			fiber->slot->top = fiber->slot->root;
		zones_unlock();
		zones_release(t, skipped);
	}
	fiber->skipped = fiber->slot ? 0 : 1;
	return fiber;
}

void zones_fiber_stop(Prof_Thread_ *t, uint32_t skipped, uint64_t now)
{
	struct zones_slot *slot = zones_slot_of(t);

	if (t->fiber)
		((Prof_Fiber *)t->fiber)->skipped = skipped;
	else
		t->own_skipped = skipped;
	if (!slot)
		return;
	zones_chain_close(t->top, now);
	slot->top = t->top;
	slot->thread = NULL;
	zones_slot_unbind(t);
}

/* Returns the number of skipped entries on it. */
static uint32_t stack_start(Prof_Thread_ *t, Prof_Fiber *fiber, uint64_t now)
{
	struct zones_slot *slot = fiber ? fiber->slot : zones_own_slot_of(t);

	t->fiber = fiber;
	t->slot = slot;
	t->top = slot ? slot->top : &zones_nowhere;
	if (slot) {
		slot->thread = t->has_ended ? NULL : t;
		if (fiber)
			Prof_PUT_(slot->shared->tid, zones_own_slot_of(t)->shared->tid);
		zones_slot_bind(t, slot);
		zones_chain_open(t->top, now);
		zones_event(t, now, t->top);
	}
	return fiber ? fiber->skipped : t->own_skipped;
}

void Prof_fiber_switch(Prof_Fiber *fiber)
{
	Prof_Thread_ *t = &Prof_thread_;
	uint32_t skipped;
	uint64_t now;

	if (t->fiber == fiber || !zones_hold(t, &skipped))
		return;
	/* Without its own slot, the end of the thread would go unnoticed. */
	if (zones_own_slot_of(t) || zones_attach(t)) {
		zones_lock();
		now = zones_now();
		zones_fiber_stop(t, skipped, now);
		skipped = stack_start(t, fiber, now);
		zones_unlock();
	}
	zones_release(t, skipped);
}

void Prof_fiber_destroy(Prof_Fiber *fiber)
{
	Prof_Thread_ *t = &Prof_thread_;
	uint32_t skipped;

	if (!fiber || t->fiber == fiber)
		return;
	/* In a forked child without its own memory, the mapping is the parent's. */
	if (fiber->slot && zones_header() && zones_hold(t, &skipped)) {
		zones_lock();
		zones_slot_give(fiber->slot);
		zones_unlock();
		zones_release(t, skipped);
	}
	free(fiber);
}
