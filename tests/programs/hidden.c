/*
 * hidden DEPTH: a process that others may not look into (PR_SET_DUMPABLE 0, as ssh-agent's), which
 * works DEPTH calls deep, with 2 KB of stack for each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "spin.h"

KEEP uint64_t down(int left, uint64_t x)
{
	volatile uint64_t room[256];

	room[0] = x;
	x = left > 1 ? down(left - 1, x) : spin(50000000, x);
	NO_TAIL_CALL(x);
	return x + room[0];
}

int main(int argc, char **argv)
{
	if (prctl(PR_SET_DUMPABLE, 0) != 0)
		return 77;
	uint64_t x = down(argc > 1 ? atoi(argv[1]) : 1, 1);

	puts("down 1 1");
	return x == 0;
}
