#ifndef SONDE_LIVE_TOTALS_H
#define SONDE_LIVE_TOTALS_H

/* What each zone has done since its program's start, exact. */

#include "zonereport/region.h"

struct live_total {
	uint64_t self_ticks;
	uint64_t total_ticks; /* with what is below; within itself counted once */
	uint64_t entries;
	uint32_t open;	    /* how often it is open now, in all threads and depths */
	uint32_t recursion; /* most of the same zone above it */
};

/*
 * [zone_count] by zone; of the slot, or of all where it is UINT32_MAX.  To be freed with free().
 */
struct live_total *live_totals(
	const struct zone_reading *reading, uint32_t zone_count, uint32_t slot);

#endif
