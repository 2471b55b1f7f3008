/*
 * churn MILLISECONDS: threads that work for half a millisecond and end, four at a time, until they
 * have used so much CPU time together.  Prints the share of all CPU time that they worked for.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "cpu_time.h"
#include "spin.h"

#define BRIEF_MS 0.5

KEEP uint64_t brief(uint64_t x)
{
	return spin(50000, x) + 1;
}

static void *thread_main(void *context)
{
	struct cpu_time time = cpu_time_of_thread(BRIEF_MS);
	uint64_t x = (uint64_t)(uintptr_t)context + 1;

	do
		x = brief(x);
	while (cpu_time_is_left(&time));
	return (void *)(uintptr_t)x;
}

int main(int argc, char **argv)
{
	struct cpu_time time = cpu_time_of_process(argc > 1 ? atof(argv[1]) : 1);
	double worked_ms = 0, share;
	pthread_t threads[4];

	do {
		for (int i = 0; i < 4; i++)
			if (pthread_create(&threads[i], NULL, thread_main, NULL) != 0)
				return 1;
		for (int i = 0; i < 4; i++)
			pthread_join(threads[i], NULL);
		worked_ms += 4 * BRIEF_MS;
	} while (cpu_time_is_left(&time));
	share = worked_ms * 1e6 / (double)cpu_time_used_ns(CLOCK_PROCESS_CPUTIME_ID);
	printf("brief %.4f %.4f\n", share, share);
	return 0;
}
