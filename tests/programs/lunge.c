/*
 * lunge MILLISECONDS THREADS CHILDREN: goes down DEPTH calls with frames of 4 KB, and from there,
 * as a video encoder does, again and again into frames of 130 KB that are left after a few
 * microseconds: near and far in turn, far working three times as much.  All THREADS more threads
 * and CHILDREN processes, each with as many threads, are there from the start.  Each thread works
 * until it has used MILLISECONDS of CPU time; the first prints what its process's profile must
 * show.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "spin.h"

enum { DEPTH = 30, WIDE_BYTES = 130 << 10, DEEP_BYTES = 4 << 10, ROUNDS = 3000 };

static uint64_t end_ms;

static uint64_t thread_milliseconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

KEEP uint64_t near(uint64_t x)
{
	volatile char data[WIDE_BYTES];

	data[x % WIDE_BYTES] = 1;
	x = spin(ROUNDS, x);
	return x + (uint64_t)data[x % WIDE_BYTES] % 2;
}

KEEP uint64_t far(uint64_t x)
{
	volatile char data[WIDE_BYTES];

	data[x % WIDE_BYTES] = 1;
	x = spin(3 * ROUNDS, x);
	return x + (uint64_t)data[x % WIDE_BYTES] % 2;
}

KEEP uint64_t down(uint64_t left, uint64_t x)
{
	volatile char data[DEEP_BYTES];

	data[x % DEEP_BYTES] = 1;
	if (left > 1) {
		x = down(left - 1, x);
	} else {
		while (thread_milliseconds() < end_ms)
			for (int i = 0; i < 100; i++)
				x = far(near(x));
	}
	return x + (uint64_t)data[x % DEEP_BYTES] % 2;
}

KEEP void *work(void *x)
{
	return (void *)(uintptr_t)down(DEPTH, (uint64_t)(uintptr_t)x);
}

static void work_all(uint64_t thread_count)
{
	pthread_t *threads = calloc(thread_count + 1, sizeof(*threads));

	for (uint64_t i = 0; i < thread_count; i++)
		pthread_create(&threads[i], NULL, work, threads);
	work(threads);
	for (uint64_t i = 0; i < thread_count; i++)
		pthread_join(threads[i], NULL);
	free(threads);
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	end_ms = strtoull(argv[1], NULL, 10);
	uint64_t threads = strtoull(argv[2], NULL, 10), children = strtoull(argv[3], NULL, 10);

	for (uint64_t i = 0; i < children; i++)
		if (fork() == 0) {
			work_all(threads);
			_exit(0);
		}
	work_all(threads);
	while (wait(NULL) > 0)
		;
	puts("near 0.25 0.25");
	puts("far 0.75 0.75");
	return 0;
}
