#ifndef SONDE_LIVE_EXTENTS_H
#define SONDE_LIVE_EXTENTS_H

/*
 * The parts of zones memory that are in use.  It is sparse: some hundred KiB of 64 MiB are used,
 * and touching the rest would allocate it.
 */

#include <stdbool.h>
#include <stdint.h>

#include "zonereport/region.h"

/* offset and bytes lie within the region.  False: stop. */
typedef bool live_extent(void *context, uint64_t offset, uint64_t bytes);

/*
 * Everything except the header: tables up to their counts, strings, the tick ring, event rings.
 * The extents of event rings come from the slots, which precede them, so a caller that copies
 * already has these.  False if `each` returned false.
 */
bool live_extents(const struct zone_region *region, live_extent *each, void *context);

/* The event ring of a slot, if it is in the region; false: none. */
struct live_ring {
	uint64_t offset; /* in the region */
	uint64_t count;	 /* of events; a power of two */
	uint64_t head;	 /* events ever written */
};
bool live_event_ring(const struct zone_region *region, uint32_t slot, struct live_ring *ring);

#endif
