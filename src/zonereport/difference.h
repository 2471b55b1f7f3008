#ifndef SONDE_ZONEREPORT_DIFFERENCE_H
#define SONDE_ZONEREPORT_DIFFERENCE_H

/*
 * The difference of two readings of a region, which is a tick; for programs themselves and for
 * readers.
 */

#include <stdbool.h>
#include <stdint.h>

#include "zonereport/region.h"

struct zone_difference;

/* NULL: no memory. */
struct zone_difference *zone_difference_create(void);
void zone_difference_destroy(struct zone_difference *difference);
/* All counters were 0 at that tick: so the first reading makes a tick already. */
void zone_difference_start(struct zone_difference *difference, uint64_t ticks);
/*
 * The tick from the last reading that was taken to this one; false if there is none (it is the
 * first) or no memory (then what happened is in the next).  tick->head: times, delta_count, number
 * (counted from 0) and AFTER_GAP are set; stream and slot are 0.  Deltas are the difference's own,
 * good until the next call, by number of node.
 */
bool zone_difference_take(struct zone_difference *difference, const struct zone_reading *reading,
	struct zone_tick *tick);
/* What happened up to this reading is in no tick; the next is AFTER_GAP. */
bool zone_difference_skip(struct zone_difference *difference, const struct zone_reading *reading);

#endif
