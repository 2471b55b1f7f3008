/*
 * The system's clocks as one number each.
 *
 * In a time namespace, processes see a shifted monotonic clock: time_namespaces(7).  Perf events
 * use the unshifted clock, so the shift, which never changes for a process, is removed.
 */
#include "base/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#ifdef __linux__
#include <pthread.h>
#endif

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * SECOND_NS + (uint64_t)ts.tv_nsec;
}

#ifdef __linux__
static pthread_once_t shift_once = PTHREAD_ONCE_INIT;
static uint64_t shift_ns;

/* Each line has a clock's name, seconds and nanoseconds; both numbers may be negative. */
static void read_shift(void)
{
	FILE *f = fopen("/proc/self/timens_offsets", "re");
	char name[16];
	int64_t seconds, rest_ns;

	while (f && fscanf(f, "%15s %" SCNd64 " %" SCNd64, name, &seconds, &rest_ns) == 3)
		if (strcmp(name, "monotonic") == 0)
			shift_ns = (uint64_t)seconds * SECOND_NS + (uint64_t)rest_ns;
	if (f)
		fclose(f);
}

uint64_t clock_monotonic_ns(void)
{
	pthread_once(&shift_once, read_shift);
	return clock_ns(CLOCK_MONOTONIC) - shift_ns;
}

uint64_t clock_thread_cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}
#else
/* In a browser: its clock, which has no namespaces. */
uint64_t clock_monotonic_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}
#endif

uint64_t clock_unix_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}
