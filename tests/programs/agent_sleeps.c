/*
 * agent_sleeps ROUNDS: a thread that works a little and then sleeps, in nanosleep, poll and
 * epoll_wait in turn, ROUNDS times, while another one works all the time.  Prints how many of the
 * sleeps were interrupted.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>

#include "spin.h"

static volatile int over;

static void *work(void *unused)
{
	uint64_t x = 1;

	(void)unused;
	while (!over)
		x = spin(10000, x);
	return (void *)(x & 1);
}

static int sleep_once(int i, int epoll)
{
	struct timespec ms = {.tv_nsec = 1000000};
	struct epoll_event event;

	errno = 0;
	if (i % 3 == 0)
		return nanosleep(&ms, NULL);
	if (i % 3 == 1)
		return poll(NULL, 0, 1);
	return epoll_wait(epoll, &event, 1, 1);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 100, interrupted = 0;
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	pthread_t worker;
	uint64_t x = 1;

	if (pthread_create(&worker, NULL, work, NULL) != 0)
		return 2;
	for (int i = 0; i < rounds; i++) {
		x = spin(30000, x);
		interrupted += sleep_once(i, epoll) < 0 && errno == EINTR;
	}
	over = 1;
	pthread_join(worker, NULL);
	printf("%d\n", interrupted);
	return x == 0;
}
