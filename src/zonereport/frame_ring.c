/*
 * A ring of complete ticks: see frame_ring.h.  A record that does not fit after the last one begins
 * at the ring's start, so that it can be read in place; records in its way are among the oldest,
 * and are dropped.
 */
#include "zonereport/frame_ring.h"

#include <stdlib.h>
#include <string.h>

bool frame_ring_init(struct frame_ring *ring, size_t bytes)
{
	size_t least = sizeof(struct zonewire_tick);

	bytes = bytes < least ? least : bytes / 8 * 8;
	*ring = (struct frame_ring){.bytes = bytes, .frame_max = bytes / least};
	ring->data = calloc(1, bytes);
	ring->place = calloc(ring->frame_max, sizeof(*ring->place));
	if (ring->data && ring->place)
		return true;
	frame_ring_deinit(ring);
	return false;
}

void frame_ring_deinit(struct frame_ring *ring)
{
	free(ring->data);
	free(ring->place);
	*ring = (struct frame_ring){0};
}

void frame_ring_clear(struct frame_ring *ring)
{
	ring->write_at = ring->first = ring->count = 0;
}

static size_t place_of(const struct frame_ring *ring, size_t nth)
{
	return ring->place[(ring->first + nth) % ring->frame_max];
}

static void drop_oldest(struct frame_ring *ring)
{
	ring->first = (ring->first + 1) % ring->frame_max;
	ring->count--;
}

/* Makes contiguous room; returns its offset. */
static size_t make_room(struct frame_ring *ring, size_t bytes)
{
	size_t at = ring->write_at;

	if (at + bytes > ring->bytes) {
		while (ring->count > 0 && place_of(ring, 0) >= at)
			drop_oldest(ring);
		at = 0;
	}
	while (ring->count > 0 && place_of(ring, 0) >= at && place_of(ring, 0) < at + bytes)
		drop_oldest(ring);
	if (ring->count == ring->frame_max)
		drop_oldest(ring);
	return at;
}

uint32_t frame_ring_add(struct frame_ring *ring, const struct zonewire_tick *tick,
	const struct zonewire_delta *delta)
{
	size_t room = (ring->bytes - sizeof(*tick)) / sizeof(*delta), bytes, at;
	struct zonewire_tick head = *tick;

	if (head.delta_count > room) {
		head.delta_count = (uint32_t)room;
		head.flags |= ZONEWIRE_TICK_CUT;
	}
	bytes = sizeof(head) + head.delta_count * sizeof(*delta);
	head.bytes = (uint32_t)bytes;
	at = make_room(ring, bytes);
	memcpy(ring->data + at, &head, sizeof(head));
	if (head.delta_count > 0)
		memcpy(ring->data + at + sizeof(head), delta, head.delta_count * sizeof(*delta));
	ring->place[(ring->first + ring->count) % ring->frame_max] = at;
	ring->count++;
	ring->write_at = at + bytes;
	return tick->delta_count - head.delta_count;
}

const struct zonewire_tick *frame_ring_get(const struct frame_ring *ring, size_t ago)
{
	return (const void *)(ring->data + place_of(ring, ring->count - 1 - ago));
}

const struct zonewire_delta *frame_deltas(const struct zonewire_tick *tick)
{
	return (const void *)(tick + 1);
}
