#ifndef SONDE_TESTS_CPU_TIME_H
#define SONDE_TESTS_CPU_TIME_H

/*
 * CPU time to be used up, by the program's own clock: programs work for a time, not for a number of
 * rounds, so that a recording has as many samples on any machine, however fast or busy.  Asking the
 * clock is a system call of a microsecond or more: where shares are measured to a hundredth, there
 * should be a few hundred microseconds of work between two questions on a fast machine, too.
 */

#include <stdint.h>
#include <time.h>

struct cpu_time {
	clockid_t clock;
	int64_t end_ns;
};

static inline int64_t cpu_time_used_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + (int64_t)t.tv_nsec;
}

static inline struct cpu_time cpu_time_from_now(clockid_t clock, double milliseconds)
{
	int64_t end_ns = cpu_time_used_ns(clock) + (int64_t)(milliseconds * 1e6);
	struct cpu_time time = {clock, end_ns};

	return time;
}

/* So much of all threads of the process together. */
static inline struct cpu_time cpu_time_of_process(double milliseconds)
{
	return cpu_time_from_now(CLOCK_PROCESS_CPUTIME_ID, milliseconds);
}

static inline struct cpu_time cpu_time_of_thread(double milliseconds)
{
	return cpu_time_from_now(CLOCK_THREAD_CPUTIME_ID, milliseconds);
}

static inline int cpu_time_is_left(const struct cpu_time *time)
{
	return cpu_time_used_ns(time->clock) < time->end_ns;
}

#endif
