#ifndef SONDE_LIVE_EXTENTS_H
#define SONDE_LIVE_EXTENTS_H

/*
 * Which parts of memory of zones are in use.  It is sparse: of 64 MiB some hundred KiB are, and the
 * rest is not to be touched, since that would make it real.
 */

#include <stdbool.h>
#include <stdint.h>

#include "zonereport/region.h"

/* offset and bytes lie within the region.  False: no more are wanted. */
typedef bool live_extent(void *context, uint64_t offset, uint64_t bytes);

/*
 * All but the header: tables up to their counts, strings, the ring of ticks, event rings.  Of event
 * rings it is seen from the slots, which come before them: who copies has those by then.  False if
 * `each` said so.
 */
bool live_extents(const struct zone_region *region, live_extent *each, void *context);

/* The event ring of a slot as far as it lies in the region; false: it has none. */
struct live_ring {
	uint64_t offset; /* in the region */
	uint64_t count;	 /* of events; a power of two */
	uint64_t head;	 /* events ever written */
};
bool live_event_ring(const struct zone_region *region, uint32_t slot, struct live_ring *ring);

#endif
