/*
 * calls KIND MS: arithmetic with a short system call every few microseconds, for so much CPU time.
 * KIND: 0 getppid, 1 the process's CPU clock, 2 the thread's, 3 the monotonic clock, 4 a read that
 * fails.  Prints the share of its CPU time that went by in `arithmetic`.
 *
 * Each call is measured where it is made: in a loop of nothing else it would find warm caches.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

/* A call that took longer was interrupted. */
#define LONGEST_NS 20000

static volatile unsigned long sum;

__attribute__((noinline)) static void arithmetic(void)
{
	for (unsigned long i = 0; i < 10000; i++)
		sum += i * sum;
}

__attribute__((noinline)) static void call(int kind)
{
	struct timespec ts;
	char byte;

	if (kind == 0)
		syscall(SYS_getppid);
	else if (kind == 1)
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	else if (kind == 2)
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	else if (kind == 3)
		clock_gettime(CLOCK_MONOTONIC, &ts);
	else
		syscall(SYS_pread64, -1, &byte, 0, 0);
}

static double clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static double ns_per_tick(void)
{
	double begin_ns = clock_ns(CLOCK_MONOTONIC);
	uint64_t begin = __rdtsc();

	while (clock_ns(CLOCK_MONOTONIC) < begin_ns + 2e7)
		continue;
	return (clock_ns(CLOCK_MONOTONIC) - begin_ns) / (double)(__rdtsc() - begin);
}

int main(int argc, char **argv)
{
	int kind = argc > 1 ? atoi(argv[1]) : 0;
	double end_ns = argc > 2 ? atof(argv[2]) * 1e6 : 1e9;
	double tick_ns = ns_per_tick(), calls_ns = 0, begin_ns, cpu_ns;
	uint64_t longest = (uint64_t)(LONGEST_NS / tick_ns);

	begin_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	do {
		for (int i = 0; i < 1000; i++) {
			arithmetic();
			uint64_t begin = __rdtsc();

			call(kind);
			uint64_t took = __rdtsc() - begin;

			calls_ns += took < longest ? (double)took * tick_ns : 0;
		}
		cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	} while (cpu_ns - begin_ns < end_ns);
	printf("%.4f\n", 1 - (begin_ns + calls_ns) / cpu_ns);
	return 0;
}
