/*
 * plunge DEPTH MILLISECONDS: goes down DEPTH calls and back, again and again, with hardly any work
 * on the way, by two ways in turn: odd and even, which call themselves only.  Frames have some 200
 * bytes.  So from one sample to the next a stack has nothing in common but main, and a moment
 * later it is another one.  A stack has main, then odd only or even only, at most DEPTH of them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "spin.h"

KEEP uint64_t odd(uint64_t left, uint64_t x)
{
	volatile uint64_t data[20];

	data[left % 20] = x;
	x = left > 1 ? odd(left - 1, x * 3 + left) : x;
	NO_TAIL_CALL(x);
	return x + data[left % 20];
}

KEEP uint64_t even(uint64_t left, uint64_t x)
{
	volatile uint64_t data[24];

	data[left % 24] = x;
	x = left > 1 ? even(left - 1, x * 5 + left) : x;
	NO_TAIL_CALL(x);
	return x + data[left % 24];
}

static uint64_t cpu_milliseconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

int main(int argc, char **argv)
{
	uint64_t x = 88172645463325252u;

	if (argc < 3)
		return 2;
	uint64_t depth = strtoull(argv[1], NULL, 10), end = strtoull(argv[2], NULL, 10);

	while (cpu_milliseconds() < end) {
		x = odd(depth, x);
		x = even(depth, x);
	}
	puts("main 0 1");
	return x == 0;
}
