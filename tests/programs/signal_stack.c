/*
 * signal_stack ROUNDS: works on while a timer's signals interrupt it, whose handler runs on a stack
 * of its own and works 50 calls deep.  How the work divides depends on the timer, so it is counted.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

#include "spin.h"

#define UNIT	      20000
#define HANDLER_UNITS 50

static uint64_t handler_state = 1;
static volatile uint64_t handler_units;

KEEP uint64_t handler_level(int left, uint64_t x)
{
	x = left > 1 ? handler_level(left - 1, x) : spin(HANDLER_UNITS * UNIT, x);
	NO_TAIL_CALL(x);
	return x + 1;
}

static KEEP void handler(int number)
{
	handler_state = handler_level(50, handler_state + (uint64_t)number);
	handler_units += HANDLER_UNITS;
}

KEEP uint64_t interrupted(uint64_t x)
{
	return spin(UNIT, x) + 1;
}

KEEP uint64_t repeat(uint64_t rounds, uint64_t x)
{
	for (uint64_t i = 0; i < rounds; i++)
		x = interrupted(x);
	return x;
}

int main(int argc, char **argv)
{
	static char stack[1 << 16];
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
	struct itimerval timer = {{0, 4000}, {0, 4000}};
	uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, x = 1;

	sigaltstack(&alternate, NULL);
	sigaction(SIGPROF, &action, NULL);
	setitimer(ITIMER_PROF, &timer, NULL);
	x = repeat(rounds, x);
	setitimer(ITIMER_PROF, &(struct itimerval){0}, NULL);

	double share = (double)handler_units / (double)(handler_units + rounds);

	printf("handler_level %.4f %.4f\nmain 0 1\nrepeat 0 1\n", share, share);
	return (x ^ handler_state) == 0;
}
