/*
 * deep DEPTH MILLISECONDS: for so much CPU time, and once at least, a recursion DEPTH levels deep,
 * which works on the way down, at the bottom and on the way up, a third of the time each.  A stack
 * taken at the bottom has main, DEPTH times `level`, and `bottom`.  Each descent takes its own
 * time, so that samples do not fall at the same places again and again on a machine where descents
 * would take some simple multiple of the sampling interval.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cpu_time.h"
#include "spin.h"

enum { ROUNDS = 200, MORE_ROUNDS = 400 };

/*
 * Of work in each level, in this descent.  Neither an argument nor kept in a register, so that
 * frames are as small as they can be: how deep stacks are read depends on their size.
 */
static volatile uint64_t rounds;

KEEP uint64_t bottom(uint64_t work, uint64_t x)
{
	return spin(work, x) + 1;
}

KEEP uint64_t level(uint64_t left, uint64_t depth, uint64_t x)
{
	x = spin(rounds, x ^ left);
	x = left > 1 ? level(left - 1, depth, x) : bottom(depth * rounds, x);
	NO_TAIL_CALL(x);
	return spin(rounds, x) + left;
}

int main(int argc, char **argv)
{
	uint64_t x = 88172645463325252u;

	if (argc < 3)
		return 2;
	uint64_t depth = strtoull(argv[1], NULL, 10);

	struct cpu_time time = cpu_time_of_process(atof(argv[2]));

	do
		for (uint64_t levels = 0; levels < 8000; levels += depth) {
			rounds = ROUNDS + x % MORE_ROUNDS;
			x = level(depth, depth, x);
		}
	while (cpu_time_is_left(&time));
	puts("bottom 0.333 0.333\nlevel 0.667 1\nmain 0 1");
	return x == 0;
}
