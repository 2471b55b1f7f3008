/*
 * The library's signal is SIGURG: programs ignore it by default, so one that arrives just after an
 * exec does no harm.  The program may still use it.  Its handler, mask and waits are emulated here,
 * and it gets every SIGURG that is not the library's.
 *
 * The signal is never really blocked, in any thread or handler, because threads that block all
 * signals, as many do, must still be sampled.  A SIGURG for the program that arrives while it
 * believes the signal to be blocked stays pending until it unblocks it.
 */
#include "preload/preload.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "preload/raw.h"

#define KERNEL_SET_BYTES 8
#define SIGNALS		 65

/* The program's own action. */
static struct sigaction program_action;
static atomic_flag action_lock = ATOMIC_FLAG_INIT;
/* Signals whose action blocks ours at the program's request. */
static _Atomic uint64_t blocking_actions;

/* The calling thread's state, as requested by the program. */
static __thread struct {
	bool blocked;
	bool pending; /* one came while it was blocked */
	siginfo_t info;
} believed __attribute__((tls_model("initial-exec")));

typedef int sigaction_fn(int, const struct sigaction *, struct sigaction *);
typedef int sigmask_fn(int, const sigset_t *, sigset_t *);
typedef sighandler_t signal_fn(int, sighandler_t);
typedef int siginterrupt_fn(int, int);
typedef int sigtimedwait_fn(const sigset_t *, siginfo_t *, const struct timespec *);
PRELOAD_REAL(sigaction, sigaction_fn)
PRELOAD_REAL(sigprocmask, sigmask_fn)
PRELOAD_REAL(pthread_sigmask, sigmask_fn)
PRELOAD_REAL(signal, signal_fn)
PRELOAD_REAL(sysv_signal, signal_fn)
PRELOAD_REAL(siginterrupt, siginterrupt_fn)
PRELOAD_REAL(sigtimedwait, sigtimedwait_fn)

/* ---- the handler ---- */

static bool is_ours(const siginfo_t *info)
{
	const struct preload_header *header = preload_process.header;

	if (header && header->clock_fd_least > 0)
		return info->si_code == POLL_IN && (uint32_t)info->si_fd >= header->clock_fd_least;
	return info->si_code == SI_TIMER && info->si_value.sival_ptr == &preload_process;
}

/* Gets the program's action before calling it; reset: apply SA_RESETHAND. */
static struct sigaction action_get(bool reset)
{
	struct sigaction action;

	while (atomic_flag_test_and_set(&action_lock))
		continue;
	action = program_action;
	if (reset && (action.sa_flags & (int)SA_RESETHAND))
		program_action.sa_handler = SIG_DFL;
	atomic_flag_clear(&action_lock);
	return action;
}

/* A signal that came while it was blocked is sent again, to arrive like any other. */
static void release_pending(void)
{
	if (believed.blocked || !believed.pending)
		return;
	believed.pending = false;
	raw4(SYS_rt_tgsigqueueinfo, getpid(), raw0(SYS_gettid), SIGURG, &believed.info);
}

/* Changes the calling thread's mask; a sealed thread keeps its mask. */
static void set_kernel_mask(int how, const uint64_t *set, uint64_t *before)
{
	if (before)
		*before = 0;
	if (!preload_self.sealed)
		raw4(SYS_rt_sigprocmask, how, set, before, KERNEL_SET_BYTES);
}

/*
 * The program's handler may be sampled, and may be left by a jump, so our signal is not blocked in
 * it.
 */
static void deliver(siginfo_t *info, void *context)
{
	struct sigaction action = action_get(true);
	uint64_t ours = UINT64_C(1) << (SIGURG - 1), mask = 0, before;
	bool was_blocked = believed.blocked;

	if (!(action.sa_flags & SA_SIGINFO) &&
		(action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN))
		return;
	memcpy(&mask, &action.sa_mask, sizeof(mask));
	believed.blocked = !(action.sa_flags & SA_NODEFER) || (mask & ours);
	set_kernel_mask(SIG_BLOCK, &mask, &before);
	set_kernel_mask(SIG_UNBLOCK, &ours, NULL);
	if (action.sa_flags & SA_SIGINFO)
		action.sa_sigaction(SIGURG, info, context);
	else
		action.sa_handler(SIGURG);
	set_kernel_mask(SIG_SETMASK, &before, NULL);
	believed.blocked = was_blocked;
	release_pending();
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)number;
	if (is_ours(info)) {
		preload_sample(context);
	} else if (believed.blocked) {
		believed.info = *info;
		believed.pending = true;
	} else {
		deliver(info, context);
	}
}

/* ---- actions ---- */

/*
 * All signals are blocked while the lock is held; otherwise a handler could wait for the code that
 * it interrupted.
 */
static void action_exchange(const struct sigaction *new_action, struct sigaction *old_action)
{
	uint64_t all = UINT64_MAX, before;
	struct sigaction old;

	set_kernel_mask(SIG_SETMASK, &all, &before);
	while (atomic_flag_test_and_set(&action_lock))
		continue;
	old = program_action;
	if (new_action)
		program_action = *new_action;
	atomic_flag_clear(&action_lock);
	set_kernel_mask(SIG_SETMASK, &before, NULL);
	if (old_action)
		*old_action = old;
}

/* Sets another signal's action; its mask must not block our signal. */
static int other_action(int number, const struct sigaction *new_action, struct sigaction *old)
{
	uint64_t bit = number > 0 && number < SIGNALS ? UINT64_C(1) << (number - 1) : 0;
	bool blocked_ours = atomic_load(&blocking_actions) & bit;
	struct sigaction changed;
	bool blocks_ours = false;

	if (new_action) {
		changed = *new_action;
		blocks_ours = sigismember(&changed.sa_mask, SIGURG) == 1;
		sigdelset(&changed.sa_mask, SIGURG);
	}
	int code = real_sigaction()(number, new_action ? &changed : NULL, old);

	if (code != 0)
		return code;
	if (new_action && blocks_ours)
		atomic_fetch_or(&blocking_actions, bit);
	else if (new_action)
		atomic_fetch_and(&blocking_actions, ~bit);
	if (old && blocked_ours)
		sigaddset(&old->sa_mask, SIGURG);
	return 0;
}

preload_exported int sigaction(
	int number, const struct sigaction *new_action, struct sigaction *old)
{
	if (!preload_process.on)
		return real_sigaction()(number, new_action, old);
	if (number != SIGURG)
		return other_action(number, new_action, old);
	action_exchange(new_action, old);
	return 0;
}

static sighandler_t set_handler(sighandler_t handler, int flags)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, old;

	action_exchange(&action, &old);
	return old.sa_flags & SA_SIGINFO ? (sighandler_t)(void *)old.sa_sigaction : old.sa_handler;
}

preload_exported sighandler_t signal(int number, sighandler_t handler)
{
	if (!preload_process.on || number != SIGURG)
		return real_signal()(number, handler);
	return set_handler(handler, SA_RESTART);
}

preload_exported sighandler_t bsd_signal(int number, sighandler_t handler);
preload_exported sighandler_t bsd_signal(int number, sighandler_t handler)
{
	return signal(number, handler);
}

preload_exported sighandler_t ssignal(int number, sighandler_t handler);
preload_exported sighandler_t ssignal(int number, sighandler_t handler)
{
	return signal(number, handler);
}

/* musl has no such function, but programs linked to glibc do. */
preload_exported sighandler_t sysv_signal(int number, sighandler_t handler);
preload_exported sighandler_t sysv_signal(int number, sighandler_t handler)
{
	if (!preload_process.on || number != SIGURG)
		return real_sysv_signal()(number, handler);
	return set_handler(handler, (int)(SA_RESETHAND | SA_NODEFER));
}

preload_exported sighandler_t __sysv_signal(int number, sighandler_t handler);
preload_exported sighandler_t __sysv_signal(int number, sighandler_t handler)
{
	return sysv_signal(number, handler);
}

preload_exported int siginterrupt(int number, int interrupt)
{
	struct sigaction action;

	if (!preload_process.on || number != SIGURG)
		return real_siginterrupt()(number, interrupt);
	action_exchange(NULL, &action);
	action.sa_flags = interrupt ? action.sa_flags & ~SA_RESTART : action.sa_flags | SA_RESTART;
	action_exchange(&action, NULL);
	return 0;
}

/* ---- masks ---- */

static bool blocked_after(int how, const sigset_t *set, bool before)
{
	bool is_member = sigismember(set, SIGURG) == 1;

	if (how == SIG_SETMASK)
		return is_member;
	if (how == SIG_BLOCK)
		return before || is_member;
	return before && !is_member;
}

/* Sets the mask with the real function, without our signal. */
static int set_mask(sigmask_fn *real, int how, const sigset_t *set, sigset_t *old)
{
	bool before = believed.blocked;
	sigset_t changed;

	if (!preload_process.on)
		return real(how, set, old);
	if (set) {
		changed = *set;
		if (preload_self.held ? how == SIG_UNBLOCK : how != SIG_UNBLOCK)
			sigdelset(&changed, SIGURG);
		else if (preload_self.held)
			sigaddset(&changed, SIGURG);
	}
	int code = real(how, set ? &changed : NULL, old);

	if (code != 0)
		return code;
	if (old && before)
		sigaddset(old, SIGURG);
	if (set) {
		believed.blocked = blocked_after(how, set, before);
		release_pending();
	}
	return 0;
}

preload_exported int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
	return set_mask(real_sigprocmask(), how, set, old);
}

preload_exported int pthread_sigmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
	return set_mask(real_pthread_sigmask(), how, set, old);
}

bool preload_signals_blocked(void)
{
	return believed.blocked;
}

void preload_signals_thread(bool blocked_by_parent)
{
	uint64_t ours = UINT64_C(1) << (SIGURG - 1), before = 0;

	if (!preload_process.on)
		return;
	raw4(SYS_rt_sigprocmask, SIG_UNBLOCK, &ours, &before, KERNEL_SET_BYTES);
	believed.blocked = blocked_by_parent || (before & ours);
}

static bool has_handler(void)
{
	struct sigaction action = action_get(false);

	return (action.sa_flags & SA_SIGINFO) ||
	       (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

/* Removes our pending signals of the thread; no more are sent. */
static void drop_ours(uint64_t ours)
{
	struct timespec on_its_way = {.tv_nsec = 2000000}, now = {0};
	siginfo_t info;

	raw2(SYS_nanosleep, &on_its_way, NULL);
	while (raw4(SYS_rt_sigtimedwait, &ours, &info, &now, KERNEL_SET_BYTES) == SIGURG)
		if (!is_ours(&info)) {
			believed.info = info;
			believed.pending = true;
		}
}

void preload_signals_hold(bool hold)
{
	uint64_t ours = UINT64_C(1) << (SIGURG - 1);

	raw4(SYS_rt_sigprocmask, hold ? SIG_BLOCK : SIG_UNBLOCK, &ours, NULL, KERNEL_SET_BYTES);
	preload_self.held = hold;
	if (!hold || !has_handler())
		return;
	/* The program wants to receive its own. */
	drop_ours(ours);
	preload_self.held = believed.blocked;
	if (!believed.blocked)
		raw4(SYS_rt_sigprocmask, SIG_UNBLOCK, &ours, NULL, KERNEL_SET_BYTES);
}

/* Pending signals of any thread disappear when the signal is ignored. */
void preload_signals_end(void)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN}, action = action_get(false);

	preload_process.on = false;
	real_sigaction()(SIGURG, &ignore, NULL);
	if (action.sa_handler != SIG_IGN)
		real_sigaction()(SIGURG, &action, NULL);
}

/* ---- waiting ---- */

static bool take_pending(const sigset_t *set, siginfo_t *info)
{
	if (!believed.pending || sigismember(set, SIGURG) != 1)
		return false;
	believed.pending = false;
	if (info)
		*info = believed.info;
	return true;
}

static uint64_t timespec_ns(const struct timespec *ts)
{
	return (uint64_t)ts->tv_sec * 1000000000u + (uint64_t)ts->tv_nsec;
}

/* Waits for a signal other than ours. */
static int wait_for(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	uint64_t end_ns = timeout ? preload_now_ns() + timespec_ns(timeout) : 0;
	struct preload_wait wait = preload_wait_begin(-1);
	struct timespec left = timeout ? *timeout : (struct timespec){0};
	siginfo_t own;

	if (take_pending(set, info))
		return SIGURG;
	for (;;) {
		int number = real_sigtimedwait()(set, &own, timeout ? &left : NULL);

		if (!preload_wait_again(&wait, number < 0 && errno == EINTR) &&
			(number != SIGURG || !is_ours(&own))) {
			if (number > 0 && info)
				*info = own;
			return number;
		}
		uint64_t now_ns = preload_now_ns(), rest = end_ns > now_ns ? end_ns - now_ns : 0;

		left = (struct timespec){(time_t)(rest / 1000000000u), (long)(rest % 1000000000u)};
	}
}

preload_exported int sigtimedwait(const sigset_t *restrict set, siginfo_t *restrict info,
	const struct timespec *restrict timeout)
{
	return wait_for(set, info, timeout);
}

preload_exported int sigwaitinfo(const sigset_t *restrict set, siginfo_t *restrict info)
{
	return wait_for(set, info, NULL);
}

preload_exported int sigwait(const sigset_t *restrict set, int *restrict number)
{
	int code = errno, got;

	while ((got = wait_for(set, NULL, NULL)) < 0 && errno == EINTR)
		continue;
	if (got < 0) {
		got = errno;
		errno = code;
		return got;
	}
	*number = got;
	return 0;
}

/* ---- start ---- */

void preload_signals_begin(void)
{
	struct sigaction action = {
		.sa_sigaction = on_signal,
		.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK,
	};

	real_sigaction()(SIGURG, &action, &program_action);
	preload_signals_thread(false);
}
