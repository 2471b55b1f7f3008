/*
 * crowd IDLE BUSY: IDLE threads that sleep and BUSY ones that work, one part in `light` and three
 * in `heavy`, for ever.  Says "ready" when all are there, and at SIGUSR1 how many rounds of work
 * have been done since the last time, in how much CPU time: "rounds N ns".
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "spin.h"

#define UNIT 4000

static atomic_ulong rounds;

KEEP uint64_t light(uint64_t x)
{
	return spin(UNIT, x) + 1;
}

KEEP uint64_t heavy(uint64_t x)
{
	return spin(3 * UNIT, x) + 1;
}

static void *idle_main(void *context)
{
	for (;;)
		pause();
	return context;
}

static void *busy_main(void *context)
{
	uint64_t x = 88172645463325252u;

	for (;;) {
		x = heavy(light(x));
		atomic_fetch_add_explicit(&rounds, 1, memory_order_relaxed);
	}
	return context;
}

static int start(int count, void *(*main)(void *))
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 65536);
	for (int i = 0; i < count; i++)
		if (pthread_create(&thread, &attributes, main, NULL) != 0)
			return 0;
	return 1;
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int main(int argc, char **argv)
{
	uint64_t used_ns = cpu_ns();
	sigset_t asked;
	int number;

	sigemptyset(&asked);
	sigaddset(&asked, SIGUSR1);
	sigprocmask(SIG_BLOCK, &asked, NULL);
	if (argc < 3 || !start(atoi(argv[1]), idle_main) || !start(atoi(argv[2]), busy_main))
		return 1;
	puts("ready");
	fflush(stdout);
	while (sigwait(&asked, &number) == 0) {
		uint64_t now_ns = cpu_ns();

		printf("rounds %lu %lu\n", atomic_exchange(&rounds, 0),
			(unsigned long)(now_ns - used_ns));
		fflush(stdout);
		used_ns = now_ns;
	}
	return 0;
}
