/*
 * holes MILLISECONDS: goes down a recursion of 400 levels and works at its end, comes back, and
 * then works below a function that leaves a hole of 256 KB in its frame, in turns of 2 ms.  What
 * the recursion has left in the hole, return addresses among it, looks as if the frames of it were
 * still there.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cpu_time.h"
#include "spin.h"

KEEP uint64_t work(uint64_t x)
{
	struct cpu_time turn = cpu_time_of_thread(2);

	while (cpu_time_is_left(&turn))
		x = spin(100000, x);
	return x;
}

KEEP uint64_t down(uint64_t left, uint64_t x)
{
	volatile uint64_t data[20];

	data[left % 20] = x;
	x = left > 1 ? down(left - 1, x * 3 + left) : work(x);
	NO_TAIL_CALL(x);
	return x + data[left % 20];
}

KEEP uint64_t hole(uint64_t x)
{
	volatile char empty[256 << 10];

	__asm__ volatile("" : : "r"(empty));
	x = work(x);
	NO_TAIL_CALL(x);
	return x;
}

int main(int argc, char **argv)
{
	uint64_t x = 88172645463325252u;

	if (argc < 2)
		return 2;
	struct cpu_time time = cpu_time_of_process(atof(argv[1]));

	while (cpu_time_is_left(&time)) {
		x = down(400, x);
		x = hole(x);
	}
	puts("main 0 1\ndown 0 0.5\nhole 0 0.5");
	return x == 0;
}
