/*
 * Event rings: where each thread was at which tick.  They are after the nodes, and are allocated
 * from the memory's end when a thread first needs one; a slot keeps its ring.  The less memory is
 * left, the smaller the next rings are, so that nearly every thread gets one.
 */
#include "zones/runtime.h"

enum { RING_MAX = 512 << 10, RING_MIN = 4 << 10 };

static void ring_make(struct zones_slot *slot)
{
	struct zones_memory *memory = &zones_rt.memory;
	uint64_t left = zones_rings_room(memory->header) - zones_rt.rings_used;
	uint64_t bytes = RING_MAX, offset;

	while (bytes > left / 8 && bytes > RING_MIN)
		bytes /= 2;
	if (bytes > left) {
		zones_trouble(ZONEWIRE_NO_RING, 1);
		return;
	}
	zones_rt.rings_used += bytes;
	offset = memory->bytes - zones_rt.rings_used;
	slot->ring = (void *)&slot->shared->event_head;
	Prof_PUT_(slot->ring->events, (void *)(memory->base + offset));
	Prof_PUT_(slot->ring->mask, bytes / sizeof(uint64_t) - 1);
	Prof_PUT_(slot->shared->event_count, bytes / sizeof(uint64_t));
	__atomic_store_n(&slot->shared->events_offset, offset, __ATOMIC_RELEASE);
}

void zones_ring_switch(struct zones_slot *slot, Prof_Thread_ *thread)
{
	uint8_t *asked = zones_mode(thread, ZONES_ASKED);
	uint8_t bits = Prof_GET_(*asked) & (uint8_t)~ZONES_IN(ZONES_ASKED, Prof_EVENTS_);

	if (zones_rt.events_on && !slot->ring)
		ring_make(slot);
	if (zones_rt.events_on && slot->ring)
		bits |= ZONES_IN(ZONES_ASKED, Prof_EVENTS_);
	__atomic_store_n(asked, bits, __ATOMIC_RELEASE);
}

void Prof_set_events(int enabled)
{
	Prof_Thread_ *t = &Prof_thread_;
	uint32_t skipped, i;

	if (!zones_hold(t, &skipped))
		return;
	zones_lock();
	zones_rt.events_on = enabled != 0;
	for (i = 0; zones_rt.memory.header && i < zones_rt.memory.header->slots.count; i++) {
		struct zones_slot *slot = &zones_rt.slot[i];

		if (slot->thread)
			zones_ring_switch(slot, slot->thread);
	}
	if (zones_slot_of(t))
		zones_event(t, zones_now(), t->top);
	zones_unlock();
	zones_release(t, skipped);
}
