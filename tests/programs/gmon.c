/*
 * gmon MILLISECONDS: for gmon.out: compiled with -pg it counts calls that are the same in every
 * round, for so much CPU time; how many rounds there were it prints.  Two cycles, one
 * of three functions that is entered at two of them; recursion of one function; a leaf that all
 * call; a static function; one that is called through a pointer only.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cpu_time.h"

#define NOINLINE __attribute__((noinline, noclone))

static volatile unsigned long sink;
void odd(int n);
void round_b(int n);
void round_c(int n);

NOINLINE void leaf(int n)
{
	for (int i = 0; i < n; i++)
		sink += (unsigned long)i * 7;
}

NOINLINE void even(int n)
{
	leaf(3000);
	if (n > 0)
		odd(n - 1);
}

NOINLINE void odd(int n)
{
	for (int i = 0; i < 6000; i++)
		sink += 3;
	if (n > 0)
		even(n - 1);
}

NOINLINE void round_a(int n)
{
	leaf(2000);
	if (n > 0) {
		round_b(n - 1);
		round_b(n / 2);
	}
}

NOINLINE void round_b(int n)
{
	for (int i = 0; i < 4000; i++)
		sink ^= (unsigned long)i;
	if (n > 0)
		round_c(n - 1);
}

NOINLINE void round_c(int n)
{
	even(2);
	if (n > 0)
		round_a(n - 1);
	if (n > 4)
		round_c(n - 5);
}

NOINLINE int recurse(int n)
{
	leaf(20);
	return n < 2 ? n : recurse(n - 1) + recurse(n - 2);
}

static NOINLINE void hidden(int n)
{
	for (int i = 0; i < n; i++)
		sink -= (unsigned long)i;
	leaf(n);
}

NOINLINE void pointed(int n)
{
	hidden(n);
}

int main(int argc, char **argv)
{
	struct cpu_time time = cpu_time_of_process(argc > 1 ? atof(argv[1]) : 1);
	void (*volatile pointer)(int) = pointed;
	int rounds = 0;

	do {
		even(7);
		odd(rounds % 3);
		round_a(9);
		if (rounds % 4 == 0)
			round_c(6);
		pointer(3000);
		rounds++;
	} while (cpu_time_is_left(&time));
	recurse(22);
	printf("%d\n", rounds);
	return 0;
}
