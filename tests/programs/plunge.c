/*
 * plunge DEPTH MILLISECONDS: goes down DEPTH calls and back, again and again, with hardly any work
 * on the way, by two ways in turn: odd and even, which call themselves only.  Frames have some 200
 * bytes.  So from one sample to the next a stack has nothing in common but main, and a moment
 * later it is another one.  A stack has main, then odd only or even only, at most DEPTH of them.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cpu_time.h"
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

int main(int argc, char **argv)
{
	uint64_t x = 88172645463325252u;

	if (argc < 3)
		return 2;
	uint64_t depth = strtoull(argv[1], NULL, 10);
	struct cpu_time time = cpu_time_of_process(atof(argv[2]));

	while (cpu_time_is_left(&time)) {
		x = odd(depth, x);
		x = even(depth, x);
	}
	puts("main 0 1");
	return x == 0;
}
