/*
 * waits ROUNDS: threads that wait, each in functions of its own, and say for how long they did:
 * lines `wall FUNCTION SECONDS`, `life THREAD SECONDS`, and `end THREAD SECONDS`, which is since
 * the program's begin.  0 rounds: until SIGTERM.
 *
 * "main" naps below 30 levels of `level`, in `deep_nap`, and near its root, in `shallow_nap`; waits
 * in `poll_wait` for what never comes; and works for 4 ms.  "holder" has a mutex most of the time,
 * for which "taker" waits in `contend`.  "asleep" waits all its life, in `wait_for_end`.
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cpu_time.h"
#include "spin.h"

static int rounds, end_pipe[2];
static volatile int is_over;
static volatile sig_atomic_t is_told;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static double deep_s, shallow_s, poll_s, contend_s, end_s;

static uint64_t use_time(uint64_t x)
{
	struct cpu_time time = cpu_time_of_thread(4);

	do
		x = spin(50000, x);
	while (cpu_time_is_left(&time));
	return x;
}

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void nap(long ms)
{
	struct timespec t = {.tv_nsec = ms * 1000000};

	nanosleep(&t, NULL);
}

KEEP uint64_t deep_nap(uint64_t x)
{
	double begin_s = now_s();

	nap(20);
	deep_s += now_s() - begin_s;
	return x + 1;
}

KEEP uint64_t level(uint64_t x, int depth)
{
	x = depth > 0 ? level(x, depth - 1) : deep_nap(x);
	NO_TAIL_CALL(x);
	return x + 1;
}

KEEP uint64_t shallow_nap(uint64_t x)
{
	double begin_s = now_s();

	nap(10);
	shallow_s += now_s() - begin_s;
	return x + 1;
}

KEEP uint64_t poll_wait(uint64_t x)
{
	struct pollfd fd = {.fd = end_pipe[0], .events = POLLIN};
	double begin_s = now_s();

	poll(&fd, 1, 5);
	poll_s += now_s() - begin_s;
	return x + 1;
}

KEEP uint64_t contend(uint64_t x)
{
	double begin_s = now_s();

	pthread_mutex_lock(&mutex);
	contend_s += now_s() - begin_s;
	pthread_mutex_unlock(&mutex);
	return x + 1;
}

KEEP uint64_t hold(uint64_t x)
{
	pthread_mutex_lock(&mutex);
	nap(12);
	pthread_mutex_unlock(&mutex);
	return x + 1;
}

KEEP uint64_t wait_for_end(uint64_t x)
{
	double begin_s = now_s();
	char byte;

	x += (uint64_t)read(end_pipe[0], &byte, 1);
	end_s = now_s() - begin_s;
	return x + 1;
}

static const char *const names[] = {"holder", "taker", "asleep", "waits"};
static double lives_s[4], ends_s[4], program_begin_s;

static void tell_end(int thread, double begin_s)
{
	double end_s = now_s();

	lives_s[thread] = end_s - begin_s;
	ends_s[thread] = end_s - program_begin_s;
}

static void *thread_main(void *context)
{
	uint64_t number = (uint64_t)(uintptr_t)context, x = number;
	double begin_s = now_s();

	pthread_setname_np(pthread_self(), names[number]);
	if (number == 2)
		x = wait_for_end(x);
	while (!is_over) {
		x = number == 0 ? hold(x) : contend(x);
		nap(8);
	}
	tell_end((int)number, begin_s);
	return (void *)(uintptr_t)x;
}

static void no_more_rounds(int number)
{
	(void)number;
	is_told = 1;
}

int main(int argc, char **argv)
{
	pthread_t threads[3];
	uint64_t x = 1;

	program_begin_s = now_s();
	rounds = argc > 1 ? atoi(argv[1]) : 10;
	sigaction(SIGTERM,
		&(struct sigaction){.sa_handler = no_more_rounds, .sa_flags = SA_RESTART}, NULL);
	if (pipe(end_pipe) != 0)
		return 1;
	for (int i = 0; i < 3; i++)
		if (pthread_create(&threads[i], NULL, thread_main, (void *)(uintptr_t)i) != 0)
			return 1;
	for (int i = 0; !is_told && (rounds == 0 || i < rounds); i++) {
		x = level(x, 30);
		x = shallow_nap(x);
		x = poll_wait(x);
		x = use_time(x);
	}
	is_over = 1;
	x += (uint64_t)write(end_pipe[1], "e", 1);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	printf("wall deep_nap %.6f\nwall shallow_nap %.6f\nwall poll_wait %.6f\n", deep_s,
		shallow_s, poll_s);
	printf("wall contend %.6f\nwall wait_for_end %.6f\n", contend_s, end_s);
	tell_end(3, program_begin_s);
	for (int i = 0; i < 4; i++)
		printf("life %s %.6f\nend %s %.6f\n", names[i], lives_s[i], names[i], ends_s[i]);
	return x == 0;
}
