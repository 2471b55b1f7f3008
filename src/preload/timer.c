/*
 * Decides when a thread is sampled: each time it has used one interval of CPU time.
 *
 * CPU-time timers fire only at the kernel's ticks, usually 250 a second, so each thread has its own
 * CLOCK_MONOTONIC timer.  It fires on the CPU that armed it, which is the one that the thread runs
 * on, so the signal arrives where the thread is.  A signal from another CPU needs an interrupt that
 * takes some 20 us on a virtual machine; meanwhile, the thread gets it at the next return from a
 * system call, so that programs with many calls would seem to do nothing else.  After the thread
 * moves to another CPU, the timer is still on the old one, so such a signal does not count as a
 * sample.
 *
 * If the thread has used less CPU time by then, because it slept or waited for a CPU, the timer is
 * set to the rest.  For a thread that it finds asleep, the timer is disabled until a wait in libc
 * returns, or until a CPU-time timer shows, at a tick, that the thread runs again.
 */
#include "preload/preload.h"

#include <sched.h>
#include <sys/resource.h>
#include <time.h>

#include "preload/raw.h"

/* timer_create(2) names this member; not every C library does. */
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

#define SECOND_NS UINT64_C(1000000000)
/* A sample may come earlier by this part of the interval. */
#define EARLY_PART 16
/* And later by this part, without setting the timer again. */
#define LATE_PART 16
/* The inaccuracy allowed in the time between two signals: this time, and this part of it. */
#define OFF_NS	    UINT64_C(15000)
#define OFF_PART    16
#define SHORTEST_NS UINT64_C(10000)
#define SOON_NS	    UINT64_C(50000)

static uint64_t interval_ns(void)
{
	return atomic_load_explicit(&preload_process.header->interval_ns, memory_order_relaxed);
}

/* Random, to avoid running in step with the program. */
static uint64_t random_below(struct preload_thread *t, uint64_t end)
{
	t->random ^= t->random << 13;
	t->random ^= t->random >> 7;
	t->random ^= t->random << 17;
	return end > 0 ? t->random % end : 0;
}

/* ---- the kernel's timers ---- */

static struct timespec time_of(uint64_t ns)
{
	return (struct timespec){(time_t)(ns / SECOND_NS), (long)(ns % SECOND_NS)};
}

static bool make(struct preload_thread *t, clockid_t clock, int *timer)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGURG};

	event.sigev_value.sival_ptr = &preload_process;
	event.sigev_notify_thread_id = t->tid;
	return raw3(SYS_timer_create, clock, &event, timer) == 0;
}

static void set(int timer, uint64_t value_ns, uint64_t period_ns)
{
	struct itimerspec spec = {.it_value = time_of(value_ns), .it_interval = time_of(period_ns)};

	raw4(SYS_timer_settime, timer, 0, &spec, NULL);
}

/* The first signal comes after ns, further ones at each interval. */
static void arm(struct preload_thread *t, uint64_t ns)
{
	t->rests = false;
	t->period_ns = interval_ns();
	t->armed_cpu = sched_getcpu();
	set(t->timer, ns > SHORTEST_NS ? ns : SHORTEST_NS, t->period_ns);
}

/*
 * Whether it has slept since the last call, and not only waited for a CPU: a thread that has used
 * up its time slice often waits at the end of a system call.  If unknown, it may have slept.
 */
static bool has_slept(struct preload_thread *t)
{
	struct rusage use;
	uint64_t slept = UINT64_MAX;

	if (raw2(SYS_getrusage, RUSAGE_THREAD, &use) == 0)
		slept = (uint64_t)use.ru_nvcsw;
	bool result = slept != t->slept || slept == UINT64_MAX;

	t->slept = slept;
	return result;
}

/* Disables the timer until the thread runs again; only if the second timer can be set. */
static void rest(struct preload_thread *t, uint64_t left_ns)
{
	if (!t->has_tick)
		t->has_tick = make(t, CLOCK_THREAD_CPUTIME_ID, &t->tick);
	if (!t->has_tick) {
		arm(t, left_ns);
		return;
	}
	t->rests = true;
	set(t->timer, 0, 0);
	set(t->tick, 1, 0);
}

void preload_timer_begin(struct preload_thread *t)
{
	uint64_t now_ns = preload_now_ns(), cpu_ns = preload_cpu_ns();

	/* The recorder provides the clock of a woken thread. */
	if (preload_process.header->clock_fd_least > 0)
		return;
	t->has_timer = make(t, CLOCK_MONOTONIC, &t->timer);
	t->has_tick = t->rests = false;
	t->random = ((now_ns * UINT64_C(0x9e3779b97f4a7c15)) ^ ((uint64_t)t->tid << 32)) | 1;
	/* A random start, so that threads shorter than the interval are found in proportion. */
	uint64_t first_ns = random_below(t, interval_ns());

	t->looked_ns = now_ns;
	t->looked_cpu_ns = cpu_ns;
	t->due_cpu_ns = cpu_ns + first_ns;
	if (t->has_timer)
		arm(t, first_ns);
}

void preload_timer_end(struct preload_thread *t)
{
	if (t->has_timer)
		raw1(SYS_timer_delete, t->timer);
	if (t->has_tick)
		raw1(SYS_timer_delete, t->tick);
	t->has_timer = t->has_tick = false;
}

/* ---- a signal ---- */

/* So soon that the thread is still there, but not in step with it. */
static void arm_soon(struct preload_thread *t)
{
	arm(t, SHORTEST_NS + random_below(t, SOON_NS));
}

/* Sets the timer for the rest of an interval. */
static void wait_on(struct preload_thread *t, uint64_t left_ns, bool is_asleep)
{
	if (is_asleep)
		rest(t, left_ns);
	else if (left_ns == 0)
		arm_soon(t);
	else
		arm(t, left_ns);
}

bool preload_timer_is_due(
	struct preload_thread *t, uint64_t now_ns, uint64_t cpu_ns, bool is_in_call)
{
	uint64_t left_ns = t->due_cpu_ns > cpu_ns ? t->due_cpu_ns - cpu_ns : 0;
	uint64_t went_ns = now_ns - t->looked_ns, ran_ns = cpu_ns - t->looked_cpu_ns;
	bool was_off = !t->rests && went_ns > ran_ns + OFF_NS + went_ns / OFF_PART;
	/* Signals that waited while the thread did would hit too many system calls. */
	bool is_stale = was_off && is_in_call;
	bool was_asleep = was_off && has_slept(t) && is_in_call;
	bool is_prompt = t->rests || sched_getcpu() == t->armed_cpu;

	t->looked_ns = now_ns;
	t->looked_cpu_ns = cpu_ns;
	if (is_prompt && !is_stale &&
		left_ns <= (was_off || t->rests ? 0 : interval_ns() / EARLY_PART))
		return true;
	wait_on(t, left_ns, was_asleep);
	return false;
}

/*
 * If a sample was late, because signals wait while the thread does, the next one is earlier, so
 * that there are as many as intervals.  There is at least half an interval between two, even after
 * a long gap: no burst makes up for lost samples.
 */
void preload_timer_sampled(struct preload_thread *t, uint64_t cpu_ns)
{
	uint64_t period_ns = interval_ns(), soonest_ns = cpu_ns + period_ns / 2;

	t->due_cpu_ns += period_ns;
	if (t->due_cpu_ns < soonest_ns)
		t->due_cpu_ns = soonest_ns;
	uint64_t left_ns = t->due_cpu_ns - cpu_ns;

	if (t->period_ns != period_ns || t->rests || left_ns < period_ns - period_ns / LATE_PART)
		arm(t, left_ns);
}

void preload_timer_again(struct preload_thread *t)
{
	arm_soon(t);
}

void preload_timer_wake(void)
{
	struct preload_thread *t = preload_enter();
	uint64_t cpu_ns;

	if (!t)
		return;
	cpu_ns = preload_cpu_ns();
	t->looked_ns = preload_now_ns();
	t->looked_cpu_ns = cpu_ns;
	if (t->rests && t->has_timer)
		arm(t, t->due_cpu_ns > cpu_ns ? t->due_cpu_ns - cpu_ns : 0);
	preload_leave(t);
}
