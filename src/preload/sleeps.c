/*
 * Sleeps that SA_RESTART does not restart: if the library's signal arrives just as a thread goes to
 * sleep, or as it wakes and waits for its CPU, they end with EINTR. If only this signal arrived,
 * they are restarted for the remaining time.
 */
#include "preload/preload.h"

#include <dlfcn.h>
#include <errno.h>
#include <unistd.h>

#include "preload/raw.h"

/* ---- shared by all waits ---- */

struct preload_wait preload_wait_begin(int64_t timeout_ns)
{
	return (struct preload_wait){
		.end_ns = timeout_ns < 0 ? UINT64_MAX : preload_now_ns() + (uint64_t)timeout_ns,
		.cuts = preload_self.cuts,
	};
}

bool preload_wait_again(struct preload_wait *wait, bool was_interrupted)
{
	bool again = was_interrupted && preload_self.cuts != wait->cuts;

	wait->cuts = preload_self.cuts;
	if (!again && preload_self.rests)
		preload_timer_wake();
	return again;
}

static uint64_t left_ns(const struct preload_wait *wait)
{
	uint64_t now_ns = preload_now_ns();

	return wait->end_ns > now_ns ? wait->end_ns - now_ns : 0;
}

int preload_wait_left_ms(const struct preload_wait *wait)
{
	return wait->end_ns == UINT64_MAX ? -1 : (int)((left_ns(wait) + 999999) / 1000000);
}

struct timespec preload_wait_left(const struct preload_wait *wait)
{
	uint64_t ns = left_ns(wait);

	return (struct timespec){(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
}

int64_t preload_ms_to_ns(int ms)
{
	return ms < 0 ? -1 : (int64_t)ms * 1000000;
}

int64_t preload_time_to_ns(const struct timespec *time)
{
	/* More than thirty years count as forever. */
	if (!time || time->tv_sec < 0 || time->tv_sec > 1000000000)
		return -1;
	return (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}

/* ---- sleeps ---- */

typedef int nanosleep_fn(const struct timespec *, struct timespec *);
typedef int clock_nanosleep_fn(clockid_t, int, const struct timespec *, struct timespec *);
typedef int pause_fn(void);
PRELOAD_REAL(nanosleep, nanosleep_fn)
PRELOAD_REAL(clock_nanosleep, clock_nanosleep_fn)
PRELOAD_REAL(pause, pause_fn)

preload_exported int nanosleep(const struct timespec *time, struct timespec *rest)
{
	struct preload_wait wait = preload_wait_begin(0);
	struct timespec left;
	int got = real_nanosleep()(time, &left);

	while (preload_wait_again(&wait, got < 0 && errno == EINTR)) {
		struct timespec next = left;

		got = real_nanosleep()(&next, &left);
	}
	if (got < 0 && errno == EINTR && rest)
		*rest = left;
	return got;
}

preload_exported int clock_nanosleep(
	clockid_t clock, int flags, const struct timespec *time, struct timespec *rest)
{
	struct preload_wait wait = preload_wait_begin(0);
	struct timespec left = *time;
	int got = real_clock_nanosleep()(clock, flags, time, &left);

	while (preload_wait_again(&wait, got == EINTR)) {
		struct timespec next = left;

		got = real_clock_nanosleep()(clock, flags, &next, &left);
	}
	if (got == EINTR && rest && !(flags & TIMER_ABSTIME))
		*rest = left;
	return got;
}

preload_exported int usleep(useconds_t us)
{
	struct timespec time = {(time_t)(us / 1000000), (long)(us % 1000000) * 1000};

	return nanosleep(&time, NULL);
}

/* sigsuspend is not repeated: it could miss a signal with a higher number that came with ours. */
preload_exported int pause(void)
{
	struct preload_wait wait = preload_wait_begin(-1);
	int got = real_pause()();

	while (preload_wait_again(&wait, got < 0 && errno == EINTR))
		got = real_pause()();
	return got;
}
