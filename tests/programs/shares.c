/*
 * shares MILLISECONDS: for so much CPU time, functions with known shares of the CPU time, which it
 * prints: "name exclusive inclusive".  The first half of a round is own work of four functions,
 * 4:3:2:1; in the second half all work is done in one callee, `shared`, reached through four
 * callers in the same proportion.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cpu_time.h"
#include "spin.h"

#define UNIT 4000

#define OWN(name, share)                                                                           \
	KEEP uint64_t own_##name(uint64_t x)                                                       \
	{                                                                                          \
		return spin((share)*UNIT, x) + 1;                                                  \
	}
OWN(a, 4)
OWN(b, 3)
OWN(c, 2)
OWN(d, 1)

KEEP uint64_t shared(uint64_t rounds, uint64_t x)
{
	return spin(rounds, x) + 1;
}

#define VIA(name, share)                                                                           \
	KEEP uint64_t via_##name(uint64_t x)                                                       \
	{                                                                                          \
		return shared((share)*UNIT, x) + 1;                                                \
	}
VIA(a, 4)
VIA(b, 3)
VIA(c, 2)
VIA(d, 1)

KEEP uint64_t own(uint64_t x)
{
	x = own_d(own_c(own_b(own_a(x))));
	return x + 1;
}

KEEP uint64_t via(uint64_t x)
{
	x = via_d(via_c(via_b(via_a(x))));
	return x + 1;
}

static void print_truth(void)
{
	puts("own_a 0.20 0.20\nown_b 0.15 0.15\nown_c 0.10 0.10\nown_d 0.05 0.05\n"
	     "shared 0.50 0.50\nvia_a 0 0.20\nvia_b 0 0.15\nvia_c 0 0.10\nvia_d 0 0.05\n"
	     "own 0 0.50\nvia 0 0.50\nmain 0 1");
}

int main(int argc, char **argv)
{
	uint64_t x = 88172645463325252u;

	struct cpu_time time = cpu_time_of_process(argc > 1 ? atof(argv[1]) : 1);

	do
		for (int round = 0; round < 128; round++)
			x = via(own(x));
	while (cpu_time_is_left(&time));
	print_truth();
	return x == 0;
}
