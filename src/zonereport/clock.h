#ifndef SONDE_ZONEREPORT_CLOCK_H
#define SONDE_ZONEREPORT_CLOCK_H

/* The clocks of zones that can be read from any program. */

#include <time.h>

#include "formats/sonde/layout/zonewire.h"

static inline uint64_t zone_clock_monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ZONEWIRE_CLOCK_CALLED is not one of them. */
static inline uint64_t zone_clock_now(enum zonewire_clock clock)
{
#if defined(__x86_64__)
	if (clock == ZONEWIRE_CLOCK_CPU)
		return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	if (clock == ZONEWIRE_CLOCK_CPU) {
		uint64_t ticks;

		__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
		return ticks;
	}
#endif
	return zone_clock_monotonic_ns();
}

#endif
