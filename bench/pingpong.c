/*
 * pingpong ROUNDS: a byte goes to a second thread and back through two pipes, ROUNDS times, so that
 * each round has two blocks and two wake-ups.  Prints the nanoseconds of a round.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int there[2], back[2];

static void pass(int from, int to, int rounds)
{
	char byte;

	while (rounds-- > 0)
		if (read(from, &byte, 1) != 1 || write(to, &byte, 1) != 1)
			exit(1);
}

static void *answer(void *rounds)
{
	pass(there[0], back[1], *(int *)rounds);
	return NULL;
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1000;
	pthread_t thread;

	if (pipe(there) != 0 || pipe(back) != 0 ||
		pthread_create(&thread, NULL, answer, &rounds) != 0)
		return 1;
	double start_ns = now_ns();

	if (write(there[1], "x", 1) != 1)
		return 1;
	pass(back[0], there[1], rounds - 1);
	pthread_join(thread, NULL);
	printf("%.0f\n", (now_ns() - start_ns) / rounds);
	return 0;
}
