/*
 * System calls that SA_RESTART does not restart: when our signal comes just as a thread goes to
 * sleep, or as it wakes and waits for its CPU, they end with EINTR.  Where only our signal came,
 * they are made again, for the time that is left.
 */
#include "agent/agent.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#define REAL(name, type)                                                                           \
	static type *real_##name(void)                                                             \
	{                                                                                          \
		static _Atomic(type *) found;                                                      \
		type *f = found;                                                                   \
                                                                                                   \
		if (!f)                                                                            \
			found = f = (type *)dlsym(RTLD_NEXT, #name);                               \
		return f;                                                                          \
	}

typedef int poll_fn(struct pollfd *, nfds_t, int);
typedef int ppoll_fn(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
typedef int epoll_wait_fn(int, struct epoll_event *, int, int);
typedef int nanosleep_fn(const struct timespec *, struct timespec *);
typedef int clock_nanosleep_fn(clockid_t, int, const struct timespec *, struct timespec *);
REAL(poll, poll_fn)
REAL(ppoll, ppoll_fn)
REAL(epoll_wait, epoll_wait_fn)
REAL(nanosleep, nanosleep_fn)
REAL(clock_nanosleep, clock_nanosleep_fn)

struct wait {
	uint64_t end_ns; /* UINT64_MAX: none */
	unsigned cuts;	 /* of the thread, before it */
};

static struct wait wait_begin(int64_t timeout_ns)
{
	return (struct wait){
		.end_ns = timeout_ns < 0 ? UINT64_MAX : agent_now_ns() + (uint64_t)timeout_ns,
		.cuts = agent_self.cuts,
	};
}

/* Whether it failed because of our signal. */
static bool is_disturbed(struct wait *wait, bool was_interrupted)
{
	bool was_cut = agent_self.cuts != wait->cuts;

	wait->cuts = agent_self.cuts;
	return was_interrupted && was_cut;
}

static uint64_t left_ns(const struct wait *wait)
{
	uint64_t now_ns = agent_now_ns();

	return wait->end_ns > now_ns ? wait->end_ns - now_ns : 0;
}

/* Milliseconds, rounded up; -1: for ever. */
static int left_ms(const struct wait *wait)
{
	return wait->end_ns == UINT64_MAX ? -1 : (int)((left_ns(wait) + 999999) / 1000000);
}

static struct timespec left_time(const struct wait *wait)
{
	uint64_t ns = left_ns(wait);

	return (struct timespec){(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
}

static int64_t ms_to_ns(int ms)
{
	return ms < 0 ? -1 : (int64_t)ms * 1000000;
}

static int64_t time_to_ns(const struct timespec *time)
{
	return time ? (int64_t)time->tv_sec * 1000000000 + time->tv_nsec : -1;
}

agent_exported int poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	struct wait wait = wait_begin(ms_to_ns(timeout_ms));
	int got = real_poll()(fds, count, timeout_ms);

	while (is_disturbed(&wait, got < 0 && errno == EINTR))
		got = real_poll()(fds, count, left_ms(&wait));
	return got;
}

agent_exported int ppoll(
	struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
	struct wait wait = wait_begin(time_to_ns(timeout));
	int got = real_ppoll()(fds, count, timeout, mask);

	while (is_disturbed(&wait, got < 0 && errno == EINTR)) {
		struct timespec left = left_time(&wait);

		got = real_ppoll()(fds, count, timeout ? &left : NULL, mask);
	}
	return got;
}

agent_exported int epoll_wait(int epoll, struct epoll_event *events, int most, int timeout_ms)
{
	struct wait wait = wait_begin(ms_to_ns(timeout_ms));
	int got = real_epoll_wait()(epoll, events, most, timeout_ms);

	while (is_disturbed(&wait, got < 0 && errno == EINTR))
		got = real_epoll_wait()(epoll, events, most, left_ms(&wait));
	return got;
}

agent_exported int nanosleep(const struct timespec *time, struct timespec *rest)
{
	struct wait wait = wait_begin(0);
	struct timespec left;
	int got = real_nanosleep()(time, &left);

	while (is_disturbed(&wait, got < 0 && errno == EINTR)) {
		struct timespec next = left;

		got = real_nanosleep()(&next, &left);
	}
	if (got < 0 && errno == EINTR && rest)
		*rest = left;
	return got;
}

agent_exported int clock_nanosleep(
	clockid_t clock, int flags, const struct timespec *time, struct timespec *rest)
{
	struct wait wait = wait_begin(0);
	struct timespec left = *time;
	int got = real_clock_nanosleep()(clock, flags, time, &left);

	while (is_disturbed(&wait, got == EINTR)) {
		struct timespec next = left;

		got = real_clock_nanosleep()(clock, flags, &next, &left);
	}
	if (got == EINTR && rest && !(flags & TIMER_ABSTIME))
		*rest = left;
	return got;
}

agent_exported int usleep(useconds_t us)
{
	struct timespec time = {(time_t)(us / 1000000), (long)(us % 1000000) * 1000};

	return nanosleep(&time, NULL);
}
