/* Waits for descriptors that SA_RESTART does not restart: poll, select, epoll and the like. */
#include "preload/preload.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>

typedef int poll_fn(struct pollfd *, nfds_t, int);
typedef int ppoll_fn(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
typedef int select_fn(int, fd_set *, fd_set *, fd_set *, struct timeval *);
typedef int pselect_fn(
	int, fd_set *, fd_set *, fd_set *, const struct timespec *, const sigset_t *);
typedef int epoll_wait_fn(int, struct epoll_event *, int, int);
typedef int epoll_pwait_fn(int, struct epoll_event *, int, int, const sigset_t *);
typedef int epoll_pwait2_fn(
	int, struct epoll_event *, int, const struct timespec *, const sigset_t *);
PRELOAD_REAL(poll, poll_fn)
PRELOAD_REAL(ppoll, ppoll_fn)
PRELOAD_REAL(select, select_fn)
PRELOAD_REAL(pselect, pselect_fn)
PRELOAD_REAL(epoll_wait, epoll_wait_fn)
PRELOAD_REAL(epoll_pwait, epoll_pwait_fn)
PRELOAD_REAL(epoll_pwait2, epoll_pwait2_fn)

preload_exported int poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	struct preload_wait wait = preload_wait_begin(preload_ms_to_ns(timeout_ms));
	int got = real_poll()(fds, count, timeout_ms);

	while (preload_wait_again(&wait, got < 0 && errno == EINTR))
		got = real_poll()(fds, count, preload_wait_left_ms(&wait));
	return got;
}

preload_exported int ppoll(
	struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
	struct preload_wait wait = preload_wait_begin(preload_time_to_ns(timeout));
	int got = real_ppoll()(fds, count, timeout, mask);

	while (preload_wait_again(&wait, got < 0 && errno == EINTR)) {
		struct timespec left = preload_wait_left(&wait);

		got = real_ppoll()(fds, count, timeout ? &left : NULL, mask);
	}
	return got;
}

/* ---- select: on failure the sets are unchanged ---- */

static struct timespec time_of(const struct timeval *time)
{
	return (struct timespec){time->tv_sec, time->tv_usec * 1000};
}

/* Rounds up. */
static struct timeval timeval_of(struct timespec time)
{
	long us = (time.tv_nsec + 999) / 1000;

	return (struct timeval){time.tv_sec + us / 1000000, us % 1000000};
}

preload_exported int select(int count, fd_set *restrict in, fd_set *restrict out,
	fd_set *restrict odd, struct timeval *restrict timeout)
{
	struct timespec whole = timeout ? time_of(timeout) : (struct timespec){0};
	struct preload_wait wait = preload_wait_begin(preload_time_to_ns(timeout ? &whole : NULL));
	int got = real_select()(count, in, out, odd, timeout);

	while (preload_wait_again(&wait, got < 0 && errno == EINTR)) {
		if (timeout)
			*timeout = timeval_of(preload_wait_left(&wait));
		got = real_select()(count, in, out, odd, timeout);
	}
	return got;
}

preload_exported int pselect(int count, fd_set *restrict in, fd_set *restrict out,
	fd_set *restrict odd, const struct timespec *restrict timeout,
	const sigset_t *restrict mask)
{
	struct preload_wait wait = preload_wait_begin(preload_time_to_ns(timeout));
	int got = real_pselect()(count, in, out, odd, timeout, mask);

	while (preload_wait_again(&wait, got < 0 && errno == EINTR)) {
		struct timespec left = preload_wait_left(&wait);

		got = real_pselect()(count, in, out, odd, timeout ? &left : NULL, mask);
	}
	return got;
}

/* ---- epoll ---- */

preload_exported int epoll_wait(int epoll, struct epoll_event *events, int most, int timeout_ms)
{
	struct preload_wait wait = preload_wait_begin(preload_ms_to_ns(timeout_ms));
	int got = real_epoll_wait()(epoll, events, most, timeout_ms);

	while (preload_wait_again(&wait, got < 0 && errno == EINTR))
		got = real_epoll_wait()(epoll, events, most, preload_wait_left_ms(&wait));
	return got;
}

preload_exported int epoll_pwait(
	int epoll, struct epoll_event *events, int most, int timeout_ms, const sigset_t *mask)
{
	struct preload_wait wait = preload_wait_begin(preload_ms_to_ns(timeout_ms));
	int got = real_epoll_pwait()(epoll, events, most, timeout_ms, mask);

	while (preload_wait_again(&wait, got < 0 && errno == EINTR))
		got = real_epoll_pwait()(epoll, events, most, preload_wait_left_ms(&wait), mask);
	return got;
}

/* If libc lacked it, the program could not have started.  Headers before glibc 2.35 do. */
epoll_pwait2_fn epoll_pwait2;
preload_exported int epoll_pwait2(int epoll, struct epoll_event *events, int most,
	const struct timespec *timeout, const sigset_t *mask)
{
	struct preload_wait wait = preload_wait_begin(preload_time_to_ns(timeout));
	epoll_pwait2_fn *real = real_epoll_pwait2();

	if (!real) {
		errno = ENOSYS;
		return -1;
	}
	int got = real(epoll, events, most, timeout, mask);

	while (preload_wait_again(&wait, got < 0 && errno == EINTR)) {
		struct timespec left = preload_wait_left(&wait);

		got = real(epoll, events, most, timeout ? &left : NULL, mask);
	}
	return got;
}
