#ifndef SONDE_LIVE_TOTALS_H
#define SONDE_LIVE_TOTALS_H

/* Exact totals of each zone since its program's start. */

#include "zonereport/region.h"

struct live_total {
	uint64_t self_ticks;
	uint64_t total_ticks; /* including everything below; recursion counted once */
	uint64_t entries;
	uint32_t open;	    /* how often it is open now, in all threads and depths */
	uint32_t recursion; /* the most occurrences of the same zone above it */
};

/* [zone_count] by zone; for the slot, or for all slots if it is UINT32_MAX. Free it with free(). */
struct live_total *live_totals(
	const struct zone_reading *reading, uint32_t zone_count, uint32_t slot);

#endif
