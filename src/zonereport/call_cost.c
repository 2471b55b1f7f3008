/*
 * Measures the cost of a zone: two clock readings are 95 % of it (the rest is a few stores, which
 * mostly overlap with them).  Takes the minimum of several tries, as disturbances only make it
 * longer.
 */
#include "zonereport/report.h"

#include "zonereport/clock.h"

enum { TRIES = 20, PAIRS = 32 };

double zone_call_cost_ns(enum zonewire_clock clock)
{
	uint64_t least = UINT64_MAX;

	if (clock == ZONEWIRE_CLOCK_CALLED)
		return 0;
	for (int i = 0; i < TRIES; i++) {
		uint64_t start = zone_clock_monotonic_ns(), took;

		for (int n = 0; n < PAIRS; n++) {
			(void)zone_clock_now(clock);
			(void)zone_clock_now(clock);
		}
		took = zone_clock_monotonic_ns() - start;
		if (took < least)
			least = took;
	}
	return (double)least / PAIRS;
}
