/*
 * preload_cuts MS: works a little and then waits, in one after the other of the calls that a signal
 * ends early and that have no function in libc, or a timeout of the socket's, for so many
 * milliseconds in all.  Prints how many of the waits were interrupted; which, to stderr.
 */
#include <errno.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "spin.h"

enum { KINDS = 8 };
static const char *const names[KINDS] = {"recv", "recvmsg", "sigtimedwait", "epoll_wait", "futex",
	"clock_nanosleep", "io_getevents", "io_uring_enter"};

static int epoll, ring, ends[2];
static aio_context_t queue;

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int begin(void)
{
	struct timeval time = {.tv_usec = 1000};
	struct io_uring_params how = {0};

	epoll = epoll_create1(0);
	ring = (int)syscall(SYS_io_uring_setup, 4, &how);
	syscall(SYS_io_setup, 4, &queue);
	return socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0 &&
	       setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time)) == 0;
}

static long wait_in_ring(const struct timespec *ms)
{
	struct __kernel_timespec time = {.tv_nsec = ms->tv_nsec};
	struct io_uring_getevents_arg how = {.ts = (uint64_t)(uintptr_t)&time};

	return syscall(SYS_io_uring_enter, ring, 0, 1,
		IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG, &how, sizeof(how));
}

static long wait_in(int kind)
{
	struct timespec ms = {.tv_nsec = 1000000};
	struct epoll_event event;
	struct io_event done;
	struct msghdr message = {0};
	int word = 0;
	char byte;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	switch (kind) {
	case 0:
		return recv(ends[0], &byte, 1, 0);
	case 1:
		return recvmsg(ends[0], &message, 0);
	case 2:
		return sigtimedwait(&set, NULL, &ms);
	case 3:
		return syscall(SYS_epoll_wait, epoll, &event, 1, 1);
	case 4:
		return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &ms, NULL, 0);
	case 5:
		return syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &ms, NULL);
	case 6:
		return syscall(SYS_io_getevents, queue, 1, 1, &done, &ms);
	default:
		return wait_in_ring(&ms);
	}
}

int main(int argc, char **argv)
{
	double end_s = now_s() + (argc > 1 ? atof(argv[1]) : 1000) / 1e3;
	int cuts[KINDS] = {0}, whole = 0;
	uint64_t x = 1;

	if (!begin())
		return 1;
	for (int i = 0; now_s() < end_s; i++) {
		x = spin(100000 + (uint64_t)(i * 7919 % 300000), x);
		errno = 0;
		cuts[i % KINDS] += wait_in(i % KINDS) < 0 && errno == EINTR;
	}
	for (int i = 0; i < KINDS; i++) {
		whole += cuts[i];
		if (cuts[i] > 0)
			fprintf(stderr, "%s: %d interrupted\n", names[i], cuts[i]);
	}
	printf("%d\n", whole);
	return x == 0;
}
