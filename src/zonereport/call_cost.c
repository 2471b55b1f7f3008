/*
 * Measures the cost of a zone: two clock readings are 95 % of it (the rest is a few stores, which
 * mostly overlap with them).  Takes the minimum of several tries, as disturbances only make it
 * longer.
 */
#include <time.h>

#include "zonereport/report.h"

enum { TRIES = 20, PAIRS = 32 };

static uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void read_clock(enum zonewire_clock clock)
{
#if defined(__x86_64__)
	if (clock == ZONEWIRE_CLOCK_CPU) {
		(void)__builtin_ia32_rdtsc();
		return;
	}
#elif defined(__aarch64__)
	if (clock == ZONEWIRE_CLOCK_CPU) {
		uint64_t ticks;

		__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
		return;
	}
#endif
	(void)monotonic_ns();
}

double zone_call_cost_ns(enum zonewire_clock clock)
{
	uint64_t least = UINT64_MAX;

	if (clock == ZONEWIRE_CLOCK_CALLED)
		return 0;
	for (int i = 0; i < TRIES; i++) {
		uint64_t start = monotonic_ns(), took;

		for (int n = 0; n < PAIRS; n++) {
			read_clock(clock);
			read_clock(clock);
		}
		took = monotonic_ns() - start;
		if (took < least)
			least = took;
	}
	return (double)least / PAIRS;
}
