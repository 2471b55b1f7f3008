/*
 * chasm MILLISECONDS [PROCESSES THREADS]: goes down to the bottom of a stack of 1 MB and back,
 * again and again, in eight calls with 128 KiB of locals each, whose frames are gone as soon as
 * they were there.  So no copy of the kernel's reaches its end, and what is read later is another
 * stack. With more arguments so many processes, one after the other, of so many threads each do so
 * for that much CPU time.  A stack at the bottom has `level` twice, then `bottom`.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cpu_time.h"
#include "spin.h"

#define LEVELS	    2
#define LOCAL_BYTES (128 << 10)
#define ROUNDS	    3000

KEEP uint64_t bottom(uint64_t x)
{
	return spin(ROUNDS, x) + 1;
}

KEEP uint64_t level(int left, uint64_t x)
{
	volatile uint8_t local[LOCAL_BYTES];

	local[x % LOCAL_BYTES] = (uint8_t)x;
	x = left > 1 ? level(left - 1, x) : bottom(x);
	NO_TAIL_CALL(x);
	return x + local[x % LOCAL_BYTES];
}

static void *work(void *milliseconds)
{
	struct cpu_time time = cpu_time_of_thread(*(double *)milliseconds);
	uint64_t x = 88172645463325252u;

	do
		for (int i = 0; i < 10; i++)
			x = level(LEVELS, x);
	while (cpu_time_is_left(&time));
	return NULL;
}

static void work_in_threads(double milliseconds, int threads)
{
	pthread_t thread[64];

	for (int i = 0; i < threads && i < 64; i++)
		pthread_create(&thread[i], NULL, work, &milliseconds);
	for (int i = 0; i < threads && i < 64; i++)
		pthread_join(thread[i], NULL);
}

int main(int argc, char **argv)
{
	double milliseconds = argc > 1 ? atof(argv[1]) : 100;

	if (argc < 4) {
		work(&milliseconds);
		return 0;
	}
	for (int i = 0; i < atoi(argv[2]); i++) {
		pid_t child = fork();

		if (child == 0) {
			work_in_threads(milliseconds, atoi(argv[3]));
			exit(0);
		}
		waitpid(child, NULL, 0);
	}
	return 0;
}
