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
	uint64_t *place; /* [frame_max], a ring: where each record begins */
	size_t bytes, frame_max;
	size_t write_at;     /* where the next record goes, if it has room there */
	size_t first, count; /* of place */
};

/* False: no memory.  At least one empty tick has room. */
bool frame_ring_init(struct frame_ring *ring, size_t bytes);
void frame_ring_deinit(struct frame_ring *ring);
void frame_ring_clear(struct frame_ring *ring);
/*
 * Adds a tick.  Of one larger than the ring, the first deltas are kept, and it is marked CUT: the
 * number of those that were not is returned.
 */
uint32_t frame_ring_add(struct frame_ring *ring, const struct zonewire_tick *tick,
	const struct zonewire_delta *delta);
/* The tick so many before the last one, its deltas behind it; ago < count. */
const struct zonewire_tick *frame_ring_get(const struct frame_ring *ring, size_t ago);
/* Deltas of a tick that get gave. */
const struct zonewire_delta *frame_deltas(const struct zonewire_tick *tick);

#endif
