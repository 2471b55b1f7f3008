/*
 * pingpong ROUNDS: two processes on one CPU hand a byte to and fro through two pipes: two switches
 * a round.  Prints how long it took, in seconds.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "spin.h"

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

KEEP int answer(int rounds, int in, int out)
{
	char byte = 0;

	for (int i = 0; i < rounds; i++)
		if (read(in, &byte, 1) != 1 || write(out, &byte, 1) != 1)
			return 1;
	return 0;
}

KEEP int ask(int rounds, int in, int out)
{
	char byte = 0;

	for (int i = 0; i < rounds; i++)
		if (write(out, &byte, 1) != 1 || read(in, &byte, 1) != 1)
			return 1;
	return 0;
}

/* On the first CPU that there is for us. */
static void stay(void)
{
	cpu_set_t all, one;

	CPU_ZERO(&one);
	if (sched_getaffinity(0, sizeof(all), &all) != 0)
		return;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, &all)) {
			CPU_SET(cpu, &one);
			break;
		}
	}
	sched_setaffinity(0, sizeof(one), &one);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1000, there[2], back[2], status;
	double begin_s = now_s();

	stay();
	if (pipe(there) != 0 || pipe(back) != 0)
		return 1;
	pid_t child = fork();

	if (child == 0)
		_exit(answer(rounds, there[0], back[1]));
	if (child < 0 || ask(rounds, back[0], there[1]) != 0 || waitpid(child, &status, 0) != child)
		return 1;
	printf("%.6f\n", now_s() - begin_s);
	return status != 0;
}
