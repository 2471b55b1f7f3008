/*
 * hogs SECONDS: two threads that only work, in `work`, and must share one CPU.  Prints how long
 * both could not run, together: what of their lives was no CPU time.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "spin.h"

static double seconds;

static double clock_s(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

KEEP uint64_t work(uint64_t x)
{
	return spin(100000, x) + 1;
}

static void *hog(void *context)
{
	double begin_s = clock_s(CLOCK_MONOTONIC), *off_s = context;
	uint64_t x = 1;

	while (clock_s(CLOCK_MONOTONIC) < begin_s + seconds)
		x = work(x);
	*off_s = clock_s(CLOCK_MONOTONIC) - begin_s - clock_s(CLOCK_THREAD_CPUTIME_ID);
	return x ? context : NULL;
}

int main(int argc, char **argv)
{
	double off_s[2];
	pthread_t threads[2];
	cpu_set_t all, one;

	seconds = argc > 1 ? atof(argv[1]) : 1;
	CPU_ZERO(&one);
	if (sched_getaffinity(0, sizeof(all), &all) != 0)
		return 1;
	for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++)
		if (CPU_ISSET(cpu, &all))
			CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, hog, &off_s[i]) != 0)
			return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%.6f\n", off_s[0] + off_s[1]);
	return 0;
}
