/*
 * gap SECONDS LEVELS FRAME_BYTES: the time that is stolen from a thread that does nothing but read
 * the clock.
 *
 * At the bottom of a recursion of LEVELS frames of about FRAME_BYTES each, it reads the time stamp
 * counter back to back.  Two readings further apart than GAP_NS have something between them that
 * was not the program: an interrupt, a signal handler, another task.  Prints a line for each such
 * gap: when it began and how long it was, in nanoseconds.  What of it is a profiler's shows the
 * difference to a run without one.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#define GAP_NS	 600
#define GAPS_MAX 2000000

struct gap {
	uint64_t at, length; /* in ticks */
};

static struct gap gaps[GAPS_MAX];
static size_t gap_count;
static double ticks_per_ns;

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double measure_ticks_per_ns(void)
{
	double start_ns = now_ns(), end_ns;
	uint64_t start = __rdtsc();

	do
		end_ns = now_ns();
	while (end_ns < start_ns + 5e7);
	return (double)(__rdtsc() - start) / (end_ns - start_ns);
}

__attribute__((noinline)) static void watch(double seconds)
{
	uint64_t least = (uint64_t)(GAP_NS * ticks_per_ns);
	uint64_t start = __rdtsc(), end = start + (uint64_t)(seconds * 1e9 * ticks_per_ns);

	for (uint64_t last = start; last < end && gap_count < GAPS_MAX;) {
		uint64_t now = __rdtsc();

		if (now - last > least) {
			gaps[gap_count++] = (struct gap){last - start, now - last};
			now = __rdtsc();
		}
		last = now;
	}
}

__attribute__((noinline)) static int descend(long levels, size_t frame_bytes, double seconds)
{
	volatile char *frame = __builtin_alloca(frame_bytes);

	frame[0] = frame[frame_bytes - 1] = 1;
	if (levels > 1)
		return descend(levels - 1, frame_bytes, seconds) + frame[0];
	watch(seconds);
	return frame[0];
}

/* The stack's limit is set at exec, so a run that needs a larger one starts itself anew. */
static void grow_stack(char **argv, size_t bytes)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= bytes + (1 << 20))
		return;
	limit.rlim_cur = bytes + (2 << 20);
	if (setrlimit(RLIMIT_STACK, &limit) == 0)
		execv("/proc/self/exe", argv);
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	long levels = atol(argv[2]);
	size_t frame_bytes = (size_t)atol(argv[3]);

	grow_stack(argv, (size_t)levels * (frame_bytes + 128));
	memset(gaps, 0, sizeof(gaps)); /* no page faults later */
	ticks_per_ns = measure_ticks_per_ns();
	descend(levels, frame_bytes, atof(argv[1]));
	for (size_t i = 0; i < gap_count; i++)
		printf("%.0f %.0f\n", (double)gaps[i].at / ticks_per_ns,
			(double)gaps[i].length / ticks_per_ns);
	return 0;
}
