/*
 * Waits that programs make through libc's `syscall`: restarted for the remaining time if the
 * library's signal interrupted them.  For some, the kernel writes the remaining time into an
 * argument; for others, the end time is known.
 */
#include "preload/calls.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <string.h>

#include "preload/raw.h"

#define FUTEX_OPERATION 127
#ifndef IORING_ENTER_EXT_ARG
#define IORING_ENTER_EXT_ARG 8u
#endif
/* Since Linux 6.12. */
#define RING_ABSOLUTE 32u

/* The position of a call's timeout. */
enum timeout_kind {
	TIMEOUT_OTHER, /* an unknown call */
	TIMEOUT_NONE,  /* none, or an absolute one, or the kernel writes the remaining time */
	TIMEOUT_MS,
	TIMEOUT_TIME,
	TIMEOUT_RING, /* in io_uring_enter's argument struct */
};

struct timeout {
	enum timeout_kind kind;
	int argument;
};

/* io_uring_enter's extended argument. */
struct ring_argument {
	uint64_t mask;
	uint32_t mask_bytes, unused;
	uint64_t time;
};

static struct timeout ring_timeout(const long a[6])
{
	bool is_told = (a[3] & (long)IORING_ENTER_EXT_ARG) && !(a[3] & (long)RING_ABSOLUTE) &&
		       a[4] && a[5] == (long)sizeof(struct ring_argument);

	return (struct timeout){is_told ? TIMEOUT_RING : TIMEOUT_NONE, 4};
}

static struct timeout timeout_of(long number, const long a[6])
{
	switch (number) {
	case SYS_futex:
		return (struct timeout){
			(a[1] & FUTEX_OPERATION) == FUTEX_WAIT ? TIMEOUT_TIME : TIMEOUT_NONE, 3};
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
		return (struct timeout){TIMEOUT_MS, 3};
	case SYS_poll:
		return (struct timeout){TIMEOUT_MS, 2};
	case SYS_clock_nanosleep:
		return (struct timeout){(a[1] & TIMER_ABSTIME) ? TIMEOUT_NONE : TIMEOUT_TIME, 2};
	case SYS_nanosleep:
		return (struct timeout){TIMEOUT_TIME, 0};
	case SYS_rt_sigtimedwait:
		return (struct timeout){TIMEOUT_TIME, 2};
	case SYS_semtimedop:
#ifdef SYS_epoll_pwait2
	case SYS_epoll_pwait2:
#endif
		return (struct timeout){TIMEOUT_TIME, 3};
	case SYS_io_getevents:
#ifdef SYS_io_pgetevents
	case SYS_io_pgetevents:
#endif
		return (struct timeout){TIMEOUT_TIME, 4};
#ifdef SYS_io_uring_enter
	case SYS_io_uring_enter:
		return ring_timeout(a);
#endif
	case SYS_select:
	case SYS_pselect6:
	case SYS_ppoll:
	case SYS_pause:
	case SYS_semop:
	case SYS_msgrcv:
	case SYS_msgsnd:
		return (struct timeout){TIMEOUT_NONE, 0};
	default:
		return (struct timeout){TIMEOUT_OTHER, 0};
	}
}

/* The maximum time that a call waits; below 0: forever, or not known yet. */
static int64_t most_ns(const struct timeout *timeout, const long a[6])
{
	long argument = a[timeout->argument];

	if (timeout->kind == TIMEOUT_MS)
		return preload_ms_to_ns((int)argument);
	if (timeout->kind == TIMEOUT_TIME)
		return preload_time_to_ns((const struct timespec *)argument); /* NOLINT */
	if (timeout->kind == TIMEOUT_RING) {
		const struct ring_argument *ring = (const void *)argument; /* NOLINT */

		return preload_time_to_ns(
			(const struct timespec *)(uintptr_t)ring->time); /* NOLINT */
	}
	return -1;
}

static long call(syscall_fn *real, long number, const long a[6])
{
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* Used only after the call was made once, so its pointers are valid. */
static long call_for_rest(syscall_fn *real, long number, const long a[6],
	const struct timeout *timeout, const struct preload_wait *wait)
{
	struct timespec left = preload_wait_left(wait);
	struct ring_argument ring;
	long b[6];

	memcpy(b, a, sizeof(b));
	if (wait->end_ns == UINT64_MAX)
		return call(real, number, b);
	if (timeout->kind == TIMEOUT_MS) {
		b[timeout->argument] = preload_wait_left_ms(wait);
	} else if (timeout->kind == TIMEOUT_TIME) {
		b[timeout->argument] = (long)&left;
	} else {
		memcpy(&ring, (const void *)b[timeout->argument], sizeof(ring)); /* NOLINT */
		ring.time = (uint64_t)(uintptr_t)&left;
		b[timeout->argument] = (long)&ring;
	}
	return call(real, number, b);
}

long preload_call(syscall_fn *real, long number, const long a[6])
{
	struct timeout timeout = timeout_of(number, a);

	if (timeout.kind == TIMEOUT_OTHER || !preload_process.on)
		return call(real, number, a);
	/* The kernel must reject a bad pointer, so the memory is read only after the call. */
	uint64_t begin_ns = preload_now_ns();
	struct preload_wait wait = preload_wait_begin(-1);
	long got = call(real, number, a);
	bool is_known = false;

	while (preload_wait_again(&wait, got < 0 && errno == EINTR)) {
		int64_t ns = is_known ? -1 : most_ns(&timeout, a);

		if (ns >= 0)
			wait.end_ns = begin_ns + (uint64_t)ns;
		is_known = true;
		got = call_for_rest(real, number, a, &timeout, &wait);
	}
	return got;
}
