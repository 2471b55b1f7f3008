/*
 * Functions that end in tail calls, each with a caller of its own, "from_" it; all ways lead to
 * inner(), where the program spends its time.  tails_other.c has the
 * functions that another file knows by name only.
 *
 *	tails MS	uses MS of CPU time below each caller, or none
 */
#include <stdio.h>
#include <stdlib.h>

#include "cpu_time.h"
#include "tails.h"

static int (*volatile pointer)(int);
static double work_ms;
static volatile int zero;

KEPT int inner(int x)
{
	struct cpu_time time = cpu_time_of_thread(work_ms);

	do
		for (volatile int i = 0; i < 100000; i++)
			x += zero;
	while (cpu_time_is_left(&time));
	return x;
}

KEPT static int single(int x)
{
	return inner(x + 1);
}

KEPT static int second(int x)
{
	return other(x + 2);
}

KEPT static int left(int x)
{
	return inner(x + 3);
}

KEPT static int right(int x)
{
	return inner(x + 4);
}

KEPT static int fork_either(int x)
{
	if (x > 7)
		return left(x);
	return right(x);
}

KEPT static int before_fork(int x)
{
	return fork_either(x + 5);
}

KEPT static int joined(int x)
{
	return inner(x + 6);
}

KEPT static int join_left(int x)
{
	return joined(x + 7);
}

KEPT static int join_right(int x)
{
	return joined(x + 8);
}

KEPT static int join(int x)
{
	if (x > 7)
		return join_left(x);
	return join_right(x);
}

KEPT static int anywhere(int x)
{
	if (x > 7)
		return pointer(x);
	return inner(x + 9);
}

/* Its other way leads out of the program. */
KEPT static int outside(int x)
{
	if (x < 0)
		return putchar(x);
	return inner(x + 10);
}

KEPT static int pong(int x);

KEPT static int ping(int x)
{
	if (x > 7)
		return pong(x - 1);
	return inner(x + 11);
}

KEPT static int pong(int x)
{
	return ping(x - 1);
}

/* The way to inner() does not pass the jump that may lead anywhere: no jump of it is certain. */
KEPT static int astray(int x)
{
	if (x > 7)
		return anywhere(x);
	return inner(x + 12);
}

#define FROM(function)                                                                             \
	KEPT int from_##function(int x)                                                            \
	{                                                                                          \
		return function(x) + 1;                                                            \
	}

FROM(inner)
FROM(single)
FROM(second)
FROM(fork_either)
FROM(before_fork)
FROM(join)
FROM(anywhere)
FROM(outside)
FROM(ping)
FROM(astray)

int main(int argc, char **argv)
{
	int x = 9;

	pointer = left;
	work_ms = argc > 1 ? atof(argv[1]) : 0;
	x += from_inner(x) + from_single(x) + from_second(x) + from_fork_either(x);
	x += from_before_fork(x) + from_join(x) + from_anywhere(x) + from_outside(x);
	x += from_ping(x) + from_astray(x);
	return x == 0;
}
