/*
 * copy BYTES: how long a copy of so many bytes of stack into a ring of 8 MB takes, in microseconds:
 * the least that a sample with so large a dump can cost.  The median of many, a millisecond apart.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RING_BYTES (8 << 20)
#define COPIES	   201

static double times_us[COPIES];

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	size_t size = argc > 1 ? (size_t)atol(argv[1]) : 65528;
	char *ring = malloc(RING_BYTES), *stack = malloc(size);

	if (!ring || !stack)
		return 1;
	memset(ring, 1, RING_BYTES);
	memset(stack, 1, size);
	for (size_t i = 0, at = 0; i < COPIES; i++, at = (at + size) % (RING_BYTES - size)) {
		double start = now_us();

		memcpy(ring + at, stack, size);
		__asm__ volatile("" ::: "memory");
		times_us[i] = now_us() - start;
		while (now_us() < start + 1000)
			;
	}
	qsort(times_us, COPIES, sizeof(times_us[0]), compare);
	printf("%.2f\n", times_us[COPIES / 2]);
	return 0;
}
