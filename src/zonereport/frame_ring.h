#ifndef SONDE_ZONEREPORT_FRAME_RING_H
#define SONDE_ZONEREPORT_FRAME_RING_H

/*
 * Consecutive ticks in a ring of a fixed number of bytes, each complete and contiguous; the oldest
 * make room for new ones.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/sonde/layout/zonewire.h"

struct frame_ring {
	uint8_t *data;	 /* bytes; records of struct zonewire_tick and its deltas */
	uint64_t *place; /* [frame_max], a ring: the offset of each record */
	size_t bytes, frame_max;
	size_t write_at;     /* where the next record goes if it fits there */
	size_t first, count; /* of place */
};

/* False: out of memory.  There is room for at least one empty tick. */
bool frame_ring_init(struct frame_ring *ring, size_t bytes);
void frame_ring_deinit(struct frame_ring *ring);
void frame_ring_clear(struct frame_ring *ring);
/*
 * Adds a tick.  If it is larger than the ring, keeps the first deltas, and marks it CUT; returns
 * the number of dropped deltas.
 */
uint32_t frame_ring_add(struct frame_ring *ring, const struct zonewire_tick *tick,
	const struct zonewire_delta *delta);
/* The tick `ago` ticks before the last one, followed by its deltas; ago < count. */
const struct zonewire_tick *frame_ring_get(const struct frame_ring *ring, size_t ago);
/* The deltas of a tick from frame_ring_get. */
const struct zonewire_delta *frame_deltas(const struct zonewire_tick *tick);

#endif
