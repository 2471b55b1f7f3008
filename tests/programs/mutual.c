/*
 * mutual MILLISECONDS: for so much CPU time, three functions that call each other in a cycle, 30 to
 * 300 frames deep, with own work 5:3:2.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cpu_time.h"
#include "spin.h"

#define UNIT 100

uint64_t first(int left, uint64_t x);
uint64_t second(int left, uint64_t x);
uint64_t third(int left, uint64_t x);

#define MEMBER(name, share, next)                                                                  \
	KEEP uint64_t name(int left, uint64_t x)                                                   \
	{                                                                                          \
		x = spin((share)*UNIT, x);                                                         \
		if (left > 1)                                                                      \
			x = next(left - 1, x);                                                     \
		NO_TAIL_CALL(x);                                                                   \
		return x + 1;                                                                      \
	}
MEMBER(first, 5, second)
MEMBER(second, 3, third)
MEMBER(third, 2, first)

int main(int argc, char **argv)
{
	uint64_t x = 88172645463325252u;

	struct cpu_time time = cpu_time_of_process(argc > 1 ? atof(argv[1]) : 1);

	do
		for (int round = 0; round < 240; round++)
			x = first(30 * (round % 10 + 1), x);
	while (cpu_time_is_left(&time));
	/* What first and second do before they call on: 5 and 8 of 550 on average. */
	puts("first 0.5 1\nsecond 0.3 0.991\nthird 0.2 0.985\nmain 0 1");
	return x == 0;
}
