/*
 * hidden DEPTH MILLISECONDS: a process that others may not look into (PR_SET_DUMPABLE 0, as
 * ssh-agent's), which works for so much CPU time, DEPTH calls deep, with 2 KB of stack for each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "cpu_time.h"
#include "spin.h"

static struct cpu_time work_time;

static inline __attribute__((always_inline)) uint64_t use_time(uint64_t x)
{
	do
		x = spin(500000, x);
	while (cpu_time_is_left(&work_time));
	return x;
}

KEEP uint64_t down(int left, uint64_t x)
{
	volatile uint64_t room[256];

	room[0] = x;
	x = left > 1 ? down(left - 1, x) : use_time(x);
	NO_TAIL_CALL(x);
	return x + room[0];
}

int main(int argc, char **argv)
{
	if (prctl(PR_SET_DUMPABLE, 0) != 0)
		return 77;
	work_time = cpu_time_of_process(argc > 2 ? atof(argv[2]) : 100);
	uint64_t x = down(argc > 1 ? atoi(argv[1]) : 1, 1);

	puts("down 1 1");
	return x == 0;
}
