#ifndef SONDE_ZONEREPORT_DIFFERENCE_H
#define SONDE_ZONEREPORT_DIFFERENCE_H

/* The difference of two readings of a region, as a tick; for the program itself and for readers. */

#include <stdbool.h>
#include <stdint.h>

#include "zonereport/region.h"

struct zone_difference;

/* NULL: out of memory. */
struct zone_difference *zone_difference_create(void);
void zone_difference_destroy(struct zone_difference *difference);
/* All counters were 0 at that tick, so even the first reading gives a tick. */
void zone_difference_start(struct zone_difference *difference, uint64_t ticks);
/*
 * The tick from the last reading to this one; false if there is none (the first reading), or out of
 * memory (then the next tick includes it).  Sets in tick->head: times, delta_count, number (counted
 * from 0) and AFTER_GAP; stream and slot are 0.  Deltas are ordered by node number, owned by the
 * difference, and valid until the next call.
 */
bool zone_difference_take(struct zone_difference *difference, const struct zone_reading *reading,
	struct zone_tick *tick);
/* Skips activity up to this reading; the next tick is AFTER_GAP. */
bool zone_difference_skip(struct zone_difference *difference, const struct zone_reading *reading);

#endif
