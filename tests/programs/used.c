/*
 * Works until it has used so much CPU time, and prints how much that was by the system's account.
 *
 * used SECONDS WORK [SLEEPERS]: WORK is "user", in its own code; "kernel", in system calls; or
 * "both".  SLEEPERS other threads sleep for a millisecond, work a little, and sleep again.
 *
 * Truth: "used SECONDS" and, as a part of it, "kernel SECONDS", of all threads together.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "spin.h"

static atomic_bool is_over;
static volatile uint64_t sink;
static char zeros[16384];

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

KEEP static void in_user(void)
{
	sink = spin(20000, sink + 1);
}

KEEP static void in_kernel(FILE *zero)
{
	for (int i = 0; i < 20; i++)
		if (read(fileno(zero), zeros, sizeof(zeros)) <= 0)
			abort();
}

KEEP static void *sleeper(void *unused)
{
	const struct timespec pause = {.tv_nsec = 1000000};

	(void)unused;
	while (!is_over) {
		(void)spin(2000, 1);
		nanosleep(&pause, NULL);
	}
	return NULL;
}

static double used(struct rusage *usage)
{
	getrusage(RUSAGE_SELF, usage);
	return seconds(usage->ru_utime) + seconds(usage->ru_stime);
}

int main(int argc, char **argv)
{
	double most = argc > 2 ? atof(argv[1]) : 1;
	bool user = argc < 3 || strcmp(argv[2], "kernel"),
	     kernel = argc > 2 && strcmp(argv[2], "user");
	int count = argc > 3 ? atoi(argv[3]) : 0;
	pthread_t threads[64];
	FILE *zero = fopen("/dev/zero", "re");
	struct rusage usage;

	if (!zero || count < 0 || count > 64)
		return 1;
	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, sleeper, NULL))
			return 1;
	while (used(&usage) < most) {
		if (user)
			in_user();
		if (kernel)
			in_kernel(zero);
	}
	is_over = true;
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	double all = used(&usage);

	printf("used %.6f\nkernel %.6f\n", all, seconds(usage.ru_stime));
	return 0;
}
