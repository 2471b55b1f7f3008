/*
 * Turns context switches into time off the CPU.  samples/offcpu.c divides the time,
 * stacks/snapshot.c walks the stacks; this file connects them with the threads of the process
 * table.
 *
 * The longer a block, the likelier a check from outside finds the thread in it.  So the stacks that
 * were read represent those that were not, as clock samples do.  Reading one costs us about 30 us,
 * and the target only a read lock of its memory map.
 */
#include "record/switches/switches.h"

#include "arch/arch.h"
#include "base/clock.h"

/* Limits on stacks read from outside: at once, and per nanosecond. */
#define READS_MAX    1000u
#define READS_PER_NS (1000.0 / (double)SECOND_NS)
/* The window in which switches are counted. */
#define WINDOW_NS (SECOND_NS / 20)

/* ---- hooks ---- */

static struct thread *thread_of(struct offcpu_thread *t)
{
	return (struct thread *)(void *)((char *)t - offsetof(struct thread, off));
}

static void write_interval(
	void *context, struct offcpu_thread *t, const struct offcpu_interval *interval)
{
	struct switches *s = context;

	recording_take_off_cpu(s->recording, thread_of(t), interval);
}

static void take_lock(struct switches *s, struct offcpu_thread *t, struct lock_wait wait)
{
	if (wait.lock != SAMPLE_LABELS_NONE)
		offcpu_lock(&s->offcpu, t, wait.lock, wait.holder, wait.read_ns);
}

static bool read_stack(void *context, struct offcpu_thread *t)
{
	struct switches *s = context;
	const struct thread *thread = thread_of(t);
	struct perf_sample sample;

	if (s->reads_left == 0)
		return false;
	s->reads_left--;
	if (blocked_stack_read(&s->reader, thread->pid, thread->tid, &sample) != BLOCKED_ASLEEP)
		return true;
	uint64_t read_ns = sample.time_ns;
	struct snapshot_place place = snapshot_walk(&s->recording->snapshot, &sample);

	if (place.thread != thread)
		return true;
	offcpu_outside_stack(&s->offcpu, t, read_ns, place.node);
	if (s->locks)
		take_lock(s, t, locks_of_call(s->locks, thread, &s->reader.call));
	return true;
}

static void thread_forked(void *context, struct thread *thread, uint64_t time_ns)
{
	struct switches *s = context;

	if (s->on)
		offcpu_begin(&s->offcpu, &thread->off, time_ns, OFFCPU_PREEMPTED);
}

static void thread_execed(void *context, struct thread *thread, uint64_t time_ns)
{
	struct switches *s = context;

	s->on = true;
	if (s->locks)
		locks_forget(s->locks);
	offcpu_run(&s->offcpu, &thread->off, time_ns);
}

static void thread_ended(void *context, struct thread *thread, uint64_t time_ns)
{
	struct switches *s = context;

	if (s->on)
		offcpu_end(&s->offcpu, &thread->off, time_ns);
}

static void thread_existed(void *context, struct thread *thread)
{
	struct switches *s = context;

	offcpu_begin(&s->offcpu, &thread->off, s->begin_ns, OFFCPU_EXISTED);
}

void switches_init(
	struct switches *s, struct recording *recording, bool on, bool wakers, struct locks *locks)
{
	const struct offcpu_hooks off = {
		.interval = write_interval, .read_stack = read_stack, .context = s};
	const struct process_hooks threads = {.forked = thread_forked,
		.execed = thread_execed,
		.ended = thread_ended,
		.context = s};

	*s = (struct switches){
		.recording = recording, .on = on, .locks = locks, .reads_left = READS_MAX};
	offcpu_init(&s->offcpu, &off, wakers);
	blocked_stack_init(&s->reader);
	process_table_hook(recording->processes, &threads);
	s->begin_ns = s->tick_ns = s->window_ns = clock_monotonic_ns();
	if (on)
		process_table_each_thread(recording->processes, thread_existed, s);
}

void switches_deinit(struct switches *s)
{
	if (s->recording)
		process_table_unhook(s->recording->processes, s);
	blocked_stack_deinit(&s->reader);
}

/* ---- records ---- */

void switches_take(struct switches *s, const struct perf_switch *record)
{
	/* Thread 0 is the idle task. */
	if (!s->on || record->tid <= 0 || record->time_ns < s->begin_ns)
		return;
	struct thread *thread = process_table_meet(
		s->recording->processes, record->pid, record->tid, record->time_ns);

	if (thread->is_over)
		return;
	if (record->out) {
		s->outs++;
		s->waits += !record->preempted;
		offcpu_out(&s->offcpu, &thread->off, record->time_ns, record->preempted);
	} else {
		offcpu_in(&s->offcpu, &thread->off, record->time_ns);
	}
}

void switches_wake(struct switches *s, struct thread *thread, uint64_t time_ns, uint32_t waker)
{
	if (s->on && time_ns >= s->begin_ns)
		offcpu_wake(&s->offcpu, &thread->off, time_ns, waker);
}

void switches_take_stack(struct switches *s, const struct perf_sample *sample)
{
	if (!s->on)
		return;
	struct snapshot_place place = snapshot_walk(&s->recording->snapshot, sample);

	if (place.thread->is_over)
		return;
	s->stacks++;
	offcpu_stack(&s->offcpu, &place.thread->off, sample->time_ns, place.node);
	if (s->locks)
		take_lock(s, &place.thread->off, locks_of_sample(s->locks, place.thread, sample));
}

/*
 * Within a system call, a thread may be preempted because of what it does: it yields, or wakes
 * another.  Where the processor doesn't show that, any preemption may be such a one.
 */
static bool is_in_system_call(const struct perf_sample *sample)
{
	uint8_t saved_pc = arch_here()->syscall_saved_pc;

	return saved_pc == ARCH_REG_NONE || !(sample->regs.known >> saved_pc & 1) ||
	       sample->regs.value[saved_pc] == sample->regs.value[UNWIND_REG_PC];
}

bool switches_take_preempted(struct switches *s, const struct perf_sample *sample)
{
	if (!s->on || !sample->has_user || is_in_system_call(sample))
		return false;
	struct thread *thread = process_table_meet(
		s->recording->processes, sample->pid, sample->tid, sample->time_ns);

	if (thread->is_over || !offcpu_borrow_stack(&s->offcpu, &thread->off, sample->time_ns))
		return false;
	s->stacks++;
	return true;
}

void switches_take_clock(struct switches *s, struct snapshot_place place, uint64_t time_ns)
{
	if (s->on)
		offcpu_sample(&s->offcpu, &place.thread->off, time_ns, place.node);
}

/* ---- periodic work ---- */

static void count_rates(struct switches *s, uint64_t now_ns)
{
	double seconds = (double)(now_ns - s->window_ns) / (double)SECOND_NS;

	if (now_ns < s->window_ns + WINDOW_NS)
		return;
	s->switches_hz = (double)s->outs / seconds;
	s->stacks_hz = (double)s->stacks / seconds;
	s->waited = s->waits > 0;
	s->outs = s->stacks = s->waits = 0;
	s->window_ns = now_ns;
}

static void grant_reads(struct switches *s, uint64_t now_ns)
{
	uint64_t more = (uint64_t)((double)(now_ns - s->tick_ns) * READS_PER_NS);

	if (more == 0)
		return;
	s->reads_left = s->reads_left + more < READS_MAX ? s->reads_left + more : READS_MAX;
	s->tick_ns = now_ns;
}

static void tell_counts(const struct switches *s)
{
	uint64_t *counters = s->recording->snapshot.counters;
	const struct offcpu_counts *counts = &s->offcpu.counts;

	counters[CAPTURE_ESTIMATED_BLOCKS] = counts->estimated;
	counters[CAPTURE_ESTIMATED_NS] = counts->estimated_ns;
	counters[CAPTURE_LOST_SWITCHES] = counts->missing + counts->misplaced;
}

void switches_tick(struct switches *s, uint64_t now_ns)
{
	if (!s->on || now_ns < s->tick_ns)
		return;
	grant_reads(s, now_ns);
	count_rates(s, now_ns);
	offcpu_tick(&s->offcpu, now_ns);
	tell_counts(s);
}

bool switches_are_waiting(const struct switches *s)
{
	return s->on && (s->waited || s->waits > 0);
}

struct ending {
	struct switches *switches;
	uint64_t now_ns;
};

static void end_thread(void *context, struct thread *thread)
{
	const struct ending *ending = context;

	if (thread->off.state != OFFCPU_UNSEEN)
		offcpu_end(&ending->switches->offcpu, &thread->off, ending->now_ns);
}

void switches_end(struct switches *s, uint64_t now_ns)
{
	struct ending ending = {s, now_ns};

	if (!s->on)
		return;
	process_table_each_thread(s->recording->processes, end_thread, &ending);
	tell_counts(s);
	s->on = false;
}
