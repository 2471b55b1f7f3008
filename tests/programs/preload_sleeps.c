/*
 * preload_sleeps ROUNDS: a thread that works a little and then waits, in each of the calls in turn
 * that a signal ends early, ROUNDS times, while another one works all the time and now and then
 * sends a message.  Prints how many of the waits were interrupted; which, to stderr.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <time.h>

#include "spin.h"

static volatile int over;
static int epoll, queue, set;
static sem_t semaphore;

struct message {
	long type;
	char text[8];
};

static void *work(void *unused)
{
	struct message message = {1, "hello"};
	uint64_t x = 1;

	(void)unused;
	for (int i = 0; !over; i++) {
		x = spin(10000, x);
		if (i % 64 == 0)
			msgsnd(queue, &message, sizeof(message.text), IPC_NOWAIT);
	}
	return (void *)(x & 1);
}

static struct timespec in_a_millisecond(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	t.tv_nsec += 1000000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

static int wait_for_descriptors(int i)
{
	struct timespec ms = {.tv_nsec = 1000000};
	struct timeval time = {.tv_usec = 1000};
	struct epoll_event event;

	if (i == 0)
		return poll(NULL, 0, 1);
	if (i == 1)
		return ppoll(NULL, 0, &ms, NULL);
	if (i == 2)
		return select(0, NULL, NULL, NULL, &time);
	if (i == 3)
		return pselect(0, NULL, NULL, NULL, &ms, NULL);
	if (i == 4)
		return epoll_wait(epoll, &event, 1, 1);
	return epoll_pwait(epoll, &event, 1, 1, NULL);
}

static int wait_once(int i)
{
	struct timespec ms = {.tv_nsec = 1000000}, end;
	struct sembuf down = {.sem_op = -1};
	struct message message;

	if (i < 6)
		return wait_for_descriptors(i);
	if (i == 6)
		return nanosleep(&ms, NULL);
	if (i == 7) {
		end = in_a_millisecond(CLOCK_MONOTONIC);
		errno = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL);
		return -1;
	}
	if (i == 8) {
		end = in_a_millisecond(CLOCK_REALTIME);
		return sem_timedwait(&semaphore, &end);
	}
	if (i == 9)
		return semtimedop(set, &down, 1, &ms);
	return (int)msgrcv(queue, &message, sizeof(message.text), 0, 0);
}

#define WAYS 11

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 100, interrupted = 0;
	pthread_t worker;
	uint64_t x = 1;

	epoll = epoll_create1(EPOLL_CLOEXEC);
	queue = msgget(IPC_PRIVATE, 0600);
	set = semget(IPC_PRIVATE, 1, 0600);
	sem_init(&semaphore, 0, 0);
	if (pthread_create(&worker, NULL, work, NULL) != 0)
		return 2;
	for (int i = 0; i < rounds; i++) {
		x = spin(30000, x);
		errno = 0;
		if (wait_once(i % WAYS) < 0 && errno == EINTR) {
			interrupted++;
			fprintf(stderr, "interrupted: %d\n", i % WAYS);
		}
	}
	over = 1;
	pthread_join(worker, NULL);
	msgctl(queue, IPC_RMID, NULL);
	semctl(set, 0, IPC_RMID);
	printf("%d\n", interrupted);
	return x == 0;
}
