/*
 * threads COUNT MILLISECONDS: COUNT threads (an even number) at once use so much CPU time together;
 * each second one, named "heavy", three times as much as the others, named "light".  All work is in
 * `work`.  None begins before all are there, on a busy machine either.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "cpu_time.h"
#include "spin.h"

static double light_ms;
static pthread_barrier_t all_are_there;

KEEP uint64_t work(uint64_t x)
{
	return spin(50000, x) + 1;
}

KEEP uint64_t light(uint64_t x)
{
	return work(x) + 1;
}

KEEP uint64_t heavy(uint64_t x)
{
	x = work(work(work(x)));
	return x + 1;
}

static void *thread_main(void *context)
{
	uint64_t number = (uint64_t)(uintptr_t)context, x = number + 12345;

	pthread_setname_np(pthread_self(), number % 2 ? "heavy" : "light");
	pthread_barrier_wait(&all_are_there);
	struct cpu_time time = cpu_time_of_thread(number % 2 ? 3 * light_ms : light_ms);

	do
		for (int round = 0; round < 64; round++)
			x = number % 2 ? heavy(x) : light(x);
	while (cpu_time_is_left(&time));
	return (void *)(uintptr_t)x;
}

int main(int argc, char **argv)
{
	static pthread_t threads[256];

	if (argc < 3)
		return 2;
	int count = atoi(argv[1]) & 255;

	light_ms = atof(argv[2]) / (2 * count);
	pthread_barrier_init(&all_are_there, NULL, count);
	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, thread_main, (void *)(uintptr_t)i) != 0)
			return 1;
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	puts("light 0 0.25\nheavy 0 0.75\nwork 1 1");
	return 0;
}
