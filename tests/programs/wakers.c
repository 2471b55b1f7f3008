/*
 * wakers: a thread "sleeper" waits for messages of two others, "quick" and "slow", which work on
 * when they have sent one.  All are on one CPU, where the sleeper runs only while nobody else does:
 * so it is woken at once, and has to wait for the CPU, longer after those of the slow one.  Goes on
 * until it has waited enough, then prints the truth: "name blocked delayed", in seconds.
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "spin.h"

#define ENOUGH_S 0.25

enum { QUICK, SLOW, WAKERS };

static const char *const names[WAKERS] = {"quick", "slow"};
static const double work_s[WAKERS] = {0.004, 0.02};

struct message {
	int waker;
	double sent_s;
};

static int pipe_fd[2];
static volatile int is_over;
static double blocked_s[WAKERS], delayed_s[WAKERS];

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void *wake(void *data)
{
	struct message message = {.waker = (int)(intptr_t)data};
	struct timespec pause = {.tv_nsec = 15000000 + 4000000 * message.waker};

	prctl(PR_SET_NAME, names[message.waker]);
	while (!is_over) {
		nanosleep(&pause, NULL);
		message.sent_s = now();
		if (write(pipe_fd[1], &message, sizeof(message)) != sizeof(message))
			fail("write");
		for (double until = message.sent_s + work_s[message.waker]; now() < until;)
			spin(1000, 1);
	}
	return NULL;
}

static int has_enough(void)
{
	return delayed_s[QUICK] >= ENOUGH_S / 4 && delayed_s[SLOW] >= ENOUGH_S &&
	       blocked_s[QUICK] >= ENOUGH_S && blocked_s[SLOW] >= ENOUGH_S / 4;
}

KEEP void await(void)
{
	struct sched_param none = {0};
	struct message message;

	prctl(PR_SET_NAME, "sleeper");
	if (sched_setscheduler(0, SCHED_IDLE, &none) != 0)
		fail("sched_setscheduler");
	while (!has_enough()) {
		double asked_s = now();

		if (read(pipe_fd[0], &message, sizeof(message)) != sizeof(message))
			fail("read");
		double read_s = now();

		/* One that was there already is not waited for. */
		if (message.sent_s < asked_s)
			continue;
		blocked_s[message.waker] += message.sent_s - asked_s;
		delayed_s[message.waker] += read_s - message.sent_s;
	}
	NO_TAIL_CALL(message.waker);
}

static void *sleeper(void *data)
{
	await();
	return data;
}

int main(void)
{
	pthread_t threads[WAKERS + 1];
	cpu_set_t cpus;
	int cpu = sched_getcpu();

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	if (pipe(pipe_fd) != 0 || sched_setaffinity(0, sizeof(cpus), &cpus) != 0)
		fail("pipe");
	pthread_create(&threads[WAKERS], NULL, sleeper, NULL);
	for (int i = 0; i < WAKERS; i++)
		pthread_create(&threads[i], NULL, wake, (void *)(intptr_t)i);
	pthread_join(threads[WAKERS], NULL);
	is_over = 1;
	for (int i = 0; i < WAKERS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < WAKERS; i++)
		printf("%s %.6f %.6f\n", names[i], blocked_s[i], delayed_s[i]);
	return 0;
}
