/*
 * returns MILLISECONDS THREADS [deep]: each thread goes down a recursion of 400 levels, works at
 * its end, comes back, writes over the stack that it has left, by another recursion, and works
 * there, in turns that last as long as a sample's interval or twice that.  It goes down with the
 * same data each time, so a stack is either shallow, or the same as all deep ones before it.  With
 * "deep" it works at the end of the other recursion, where the stack is deeper still and has other
 * frames.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "cpu_time.h"
#include "spin.h"

KEEP uint64_t work(double milliseconds)
{
	struct cpu_time turn = cpu_time_of_thread(milliseconds);
	uint64_t x = 88172645463325252u;

	while (cpu_time_is_left(&turn))
		x = spin(20000, x);
	return x;
}

KEEP uint64_t down(uint64_t left, double milliseconds)
{
	volatile uint64_t data[20];
	uint64_t x;

	data[left % 20] = left;
	x = left > 1 ? down(left - 1, milliseconds) : work(milliseconds);
	NO_TAIL_CALL(x);
	return x + data[left % 20];
}

/* Writes over each byte, with frames of another size. */
KEEP uint64_t over(uint64_t left, double milliseconds)
{
	volatile uint64_t data[24];
	uint64_t x;

	for (size_t i = 0; i < 24; i++)
		data[i] = left;
	x = left > 1 ? over(left - 1, milliseconds) : milliseconds > 0 ? work(milliseconds) : 1;
	NO_TAIL_CALL(x);
	return x + data[left % 24];
}

KEEP uint64_t up(double milliseconds)
{
	uint64_t x = work(milliseconds);

	NO_TAIL_CALL(x);
	return x;
}

static double work_ms;
static int is_deep;

KEEP void *turns(void *unused)
{
	struct cpu_time time = cpu_time_of_thread(work_ms);
	uint64_t x = 0;

	(void)unused;
	for (unsigned int turn = 0; cpu_time_is_left(&time); turn++) {
		double milliseconds = 1 + turn % 2;

		x += down(400, milliseconds);
		x += over(400, is_deep ? milliseconds : 0);
		x += is_deep ? 0 : up(milliseconds);
	}
	return (void *)(uintptr_t)x;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	size_t count = strtoull(argv[2], NULL, 10);
	pthread_t *threads = calloc(count, sizeof(*threads));

	work_ms = atof(argv[1]);
	is_deep = argc > 3;
	for (size_t i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, turns, NULL);
	for (size_t i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	printf("turns 0 1\ndown 0 0.5\n%s 0 0.5\n", is_deep ? "over" : "up");
	return 0;
}
