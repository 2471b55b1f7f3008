/*
 * The system's clocks as one number each.
 */
#include "base/clock.h"

#include <time.h>

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * SECOND_NS + (uint64_t)ts.tv_nsec;
}

uint64_t clock_monotonic_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

uint64_t clock_unix_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}
