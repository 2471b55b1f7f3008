/*
 * signal_stack MILLISECONDS: works on for so much CPU time while a timer's signals interrupt it,
 * whose handler runs on a stack of its own and works 2 ms, 50 calls deep.  How the time divides
 * depends on the timer, so it is measured, by the thread's clock.
 *
 * The timer counts real time.  One of CPU time fires at the scheduler's ticks, which come every 4
 * ms on many machines: four samples later, less 12 us.  If each tick also takes the thread off its
 * CPU for about so long, each sample is at the same place after a tick as the fourth one before it,
 * and three of four may be in the handler, which has 2.3 of 4 ms.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

#include "cpu_time.h"
#include "spin.h"

#define UNIT	   20000
#define HANDLER_MS 2
/* Not close to a multiple of a part of the samples' interval. */
#define TIMER_US 4370

static uint64_t handler_state = 1;
static struct cpu_time handler_time;
static volatile int64_t handler_ns;

static inline __attribute__((always_inline)) uint64_t use_time(uint64_t x)
{
	do
		x = spin((uint64_t)10 * UNIT, x);
	while (cpu_time_is_left(&handler_time));
	return x;
}

KEEP uint64_t handler_level(int left, uint64_t x)
{
	x = left > 1 ? handler_level(left - 1, x) : use_time(x);
	NO_TAIL_CALL(x);
	return x + 1;
}

static KEEP void handler(int number)
{
	int64_t begin_ns = cpu_time_used_ns(CLOCK_THREAD_CPUTIME_ID);

	handler_time = cpu_time_of_thread(HANDLER_MS);
	handler_state = handler_level(50, handler_state + (uint64_t)number);
	handler_ns += cpu_time_used_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
}

KEEP uint64_t interrupted(uint64_t x)
{
	return spin(UNIT, x) + 1;
}

KEEP uint64_t repeat(double milliseconds, uint64_t x)
{
	struct cpu_time time = cpu_time_of_thread(milliseconds);

	do
		for (int round = 0; round < 50; round++)
			x = interrupted(x);
	while (cpu_time_is_left(&time));
	return x;
}

int main(int argc, char **argv)
{
	static char stack[1 << 16];
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
	struct itimerval timer = {{0, TIMER_US}, {0, TIMER_US}};
	double milliseconds = argc > 1 ? atof(argv[1]) : 1;
	uint64_t x = 1;

	sigaltstack(&alternate, NULL);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	x = repeat(milliseconds, x);
	setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);

	int64_t all_ns = cpu_time_used_ns(CLOCK_THREAD_CPUTIME_ID);
	double share = (double)handler_ns / (double)all_ns;

	printf("handler_level %.4f %.4f\nmain 0 1\nrepeat 0 1\n", share, share);
	return (x ^ handler_state) == 0;
}
