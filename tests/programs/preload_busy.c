/*
 * preload_busy WHAT MILLISECONDS: programs in which a signal may come at any bad moment, for so
 * much CPU time; "forks": as many children.  "malloc": allocates and frees in two threads. "forks":
 * children that end at once, by _exit and by exec of true.  "fibers": works on stacks of its own
 * making, by swapcontext.  "stack": a thread on a stack that the program gave it.  "close": closes
 * all descriptors that it did not open.  "lock": locks all of its memory, as programs do that must
 * not wait for any, then works in two threads. Prints "done".
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "cpu_time.h"
#include "spin.h"

static double milliseconds;

KEEP void *allocate(void *unused)
{
	void *held[64] = {0};
	struct cpu_time time = cpu_time_of_process(milliseconds);
	unsigned at = 1;

	do {
		for (int i = 0; i < 1000; i++) {
			at = at * 1103515245u + 12345;
			free(held[at >> 26]);
			held[at >> 26] = malloc(1 + (at >> 8) % 5000);
		}
	} while (cpu_time_is_left(&time));
	for (int i = 0; i < 64; i++)
		free(held[i]);
	return unused;
}

static void in_two_threads(void *(*run)(void *))
{
	pthread_t other;

	if (pthread_create(&other, NULL, run, NULL) == 0) {
		run(NULL);
		pthread_join(other, NULL);
	}
}

static uint64_t use_time(double time_ms)
{
	struct cpu_time time = cpu_time_of_process(time_ms);
	uint64_t x = 1;

	do
		x = spin(20000, x);
	while (cpu_time_is_left(&time));
	return x;
}

static void forks(void)
{
	for (int i = 0; i < milliseconds; i++) {
		pid_t pid = fork();
		int status = 0;

		if (pid == 0 && i % 2 == 0)
			_exit(use_time(0.4) == 0);
		if (pid == 0) {
			execl("/bin/true", "true", (char *)NULL);
			_exit(9);
		}
		if (waitpid(pid, &status, 0) != pid || status != 0) {
			printf("child: %x\n", (unsigned)status);
			exit(1);
		}
	}
}

static ucontext_t home, fiber;
static volatile uint64_t sink;

KEEP void fiber_work(void)
{
	for (;;) {
		sink = spin(100000, 1);
		swapcontext(&fiber, &home);
	}
}

static void fibers(void)
{
	size_t size = 64 << 10;

	getcontext(&fiber);
	fiber.uc_stack.ss_sp =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	fiber.uc_stack.ss_size = size;
	makecontext(&fiber, fiber_work, 0);
	struct cpu_time time = cpu_time_of_process(milliseconds);

	do
		swapcontext(&home, &fiber);
	while (cpu_time_is_left(&time));
}

KEEP void *given_stack_work(void *unused)
{
	sink = use_time(milliseconds);
	return unused;
}

static void given_stack(void)
{
	size_t size = 128 << 10;
	void *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	if (pthread_attr_setstack(&attributes, stack, size) != 0 ||
		pthread_create(&thread, &attributes, given_stack_work, NULL) != 0)
		exit(1);
	pthread_join(thread, NULL);
}

KEEP void *closed_work(void *unused)
{
	sink = use_time(milliseconds);
	return unused;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	milliseconds = atof(argv[2]);
	if (strcmp(argv[1], "malloc") == 0)
		in_two_threads(allocate);
	if (strcmp(argv[1], "forks") == 0)
		forks();
	if (strcmp(argv[1], "fibers") == 0)
		fibers();
	if (strcmp(argv[1], "stack") == 0)
		given_stack();
	if (strcmp(argv[1], "close") == 0) {
		closefrom(3);
		in_two_threads(closed_work);
	}
	if (strcmp(argv[1], "lock") == 0) {
		if (mlockall(MCL_CURRENT) != 0)
			return 77;
		in_two_threads(closed_work);
	}
	puts("done");
	return 0;
}
