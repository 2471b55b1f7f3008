/*
 * overflow MODE: recurses until its stack has no more room, which takes a SIGSEGV to find out.
 * "plain" dies of it.  "handler" has a handler on a stack of its own, which works there for 40 ms,
 * 1,000 calls deep, says so and exits with 3.  "jump" jumps out of that handler, and does it all 20
 * times.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cpu_time.h"
#include "spin.h"

#define HANDLER_DEPTH 1000
#define JUMPS	      20

static sigjmp_buf before;
static int jumps;

/* Frames of a few hundred bytes, so that there are some 20,000 in the usual 8 MB. */
KEEP uint64_t sink(uint64_t x)
{
	volatile uint64_t room[48];

	room[x % 48] = spin(200, x);
	uint64_t below = sink(room[x % 48] + 1);

	NO_TAIL_CALL(below);
	return below + room[0];
}

static struct cpu_time handler_time;

static inline __attribute__((always_inline)) uint64_t use_time(uint64_t x)
{
	do
		x = spin(100000, x);
	while (cpu_time_is_left(&handler_time));
	return x;
}

KEEP uint64_t in_handler(int left, uint64_t x)
{
	x = left > 1 ? in_handler(left - 1, x) : use_time(x);
	NO_TAIL_CALL(x);
	return x + 1;
}

static KEEP void say_and_exit(int number)
{
	static const char text[] = "caught\n";

	handler_time = cpu_time_of_process(40);
	if (number != SIGSEGV || in_handler(HANDLER_DEPTH, 1) == 0)
		_exit(4);
	_exit(write(STDOUT_FILENO, text, strlen(text)) == (ssize_t)strlen(text) ? 3 : 5);
}

static KEEP void jump_out(int number)
{
	siglongjmp(before, number);
}

int main(int argc, char **argv)
{
	static char room[1 << 20];
	stack_t alternate = {.ss_sp = room, .ss_size = sizeof(room)};
	struct sigaction action = {.sa_handler = say_and_exit, .sa_flags = SA_ONSTACK};

	if (argc < 2)
		return 2;
	if (strcmp(argv[1], "plain") == 0)
		return sink(1) == 0;
	if (strcmp(argv[1], "jump") == 0)
		action.sa_handler = jump_out;
	sigaltstack(&alternate, NULL);
	sigaction(SIGSEGV, &action, NULL);
	if (sigsetjmp(before, 1) == 0 || jumps++ < JUMPS)
		return sink(1) == 0;
	printf("jumped %d times\n", JUMPS);
	return 0;
}
