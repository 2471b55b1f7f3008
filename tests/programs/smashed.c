/*
 * smashed WHAT MILLISECONDS: for so much CPU time, again and again, a function that writes nonsense
 * over its own return address and its caller's frame pointer, works, and puts both back before it
 * returns.  The nonsense: "self" the place
 * itself, "kernel" an address of the kernel's, "hole" one that no processor knows, "zero", "ones",
 * "code" the function's own begin, for ever the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu_time.h"
#include "spin.h"

KEEP uint64_t victim(const char *what, uint64_t rounds, uint64_t x)
{
	volatile uint64_t *frame = __builtin_frame_address(0);
	uint64_t pointer = frame[0], address = frame[1], lie = 0;

	if (strcmp(what, "self") == 0)
		lie = (uint64_t)(uintptr_t)frame;
	else if (strcmp(what, "kernel") == 0)
		lie = 0xffffffff81000000u;
	else if (strcmp(what, "hole") == 0)
		lie = 0x8000dead0000beefu;
	else if (strcmp(what, "ones") == 0)
		lie = UINT64_MAX;
	else if (strcmp(what, "code") == 0)
		lie = (uint64_t)(uintptr_t)victim + 16;
	frame[0] = lie;
	frame[1] = lie;
	x = spin(rounds, x);
	frame[0] = pointer;
	frame[1] = address;
	return x;
}

int main(int argc, char **argv)
{
	uint64_t x = 1;

	if (argc < 3)
		return 2;
	struct cpu_time time = cpu_time_of_process(atof(argv[2]));

	do {
		x = victim(argv[1], 500000, x);
		x = spin(500, x);
	} while (cpu_time_is_left(&time));
	puts("victim 1 1");
	return x == 0;
}
