/*
 * When is a thread looked at?  Soon after it should have written a record; then, while it sleeps
 * on, after a part of the time that it has slept, so that a sleep costs as many looks as the
 * logarithm of its length, and where it ended is known to the same part.
 *
 * A thread that runs shall not wake us each time, to find its record.  So a look waits for the next
 * turn at which records are taken, the longer the longer the thread has not slept; one that sleeps
 * is looked at when it is due.
 *
 * A look is one small file, some 3 us, as long as the thread has not been given a CPU since; only
 * then its stack is read, some 30 us.  Both have their limits, in which the looks get rarer: what
 * is recorded between two of them still adds up.
 */
#include "record/engines/preload/preload_looks.h"

#include <unistd.h>

#include "base/clock.h"

/* Of a sleep so far, the time to the next look. */
#define SLEEP_PART    16
#define LOOK_LEAST_NS (SECOND_NS / 1000)
#define LOOK_MOST_NS  SECOND_NS
/* A thread that should have written a record is looked at after this at the latest. */
#define SILENT_MOST_NS (2 * LOOK_LEAST_NS)
/* Of one that does not sleep, looks wait so long for another reason to wake; with each record that
 * grows by that part. */
#define AWAKE_MOST_NS (10 * LOOK_LEAST_NS)
#define AWAKE_PART    32
/* How long one that runs has waited for CPUs is asked so often. */
#define ASK_NS (SECOND_NS / 20)
/* A second, and at once a tenth of that. */
#define LOOKS_HZ 8000.0
#define READS_HZ 1000.0

static void write_interval(
	void *context, struct preload_life *life, const struct offcpu_interval *interval)
{
	struct preload_looks *l = context;

	(void)life;
	recording_take_off_cpu(l->recording,
		process_table_meet(l->recording->processes, l->pid, l->tid, interval->begin_ns),
		interval);
}

bool preload_looks_are_possible(void)
{
	struct proc_sched sched;

	return proc_sched_read(getpid(), &sched) && sched.turns > 0;
}

void preload_looks_init(struct preload_looks *l, struct recording *recording)
{
	*l = (struct preload_looks){.recording = recording, .granted_ns = clock_monotonic_ns()};
	l->lives.interval = write_interval;
	l->lives.context = l;
	blocked_stack_init(&l->reader);
}

void preload_looks_deinit(struct preload_looks *l)
{
	blocked_stack_deinit(&l->reader);
}

static double more(double left, double hz, double seconds)
{
	left += hz * seconds;
	return left < hz / 10 ? left : hz / 10;
}

bool preload_looks_grant(struct preload_looks *l, uint64_t now_ns)
{
	double seconds = (double)(now_ns - l->granted_ns) / (double)SECOND_NS;

	l->looks_left = more(l->looks_left, LOOKS_HZ, seconds);
	l->reads_left = more(l->reads_left, READS_HZ, seconds);
	l->granted_ns = now_ns;
	return l->looks_left >= 1;
}

void preload_looks_begin(struct preload_looks *l, struct preload_life *life, pid_t pid, pid_t tid,
	uint64_t time_ns, uint64_t cpu_ns)
{
	struct proc_sched sched = {0};

	l->pid = pid;
	l->tid = tid;
	(void)proc_sched_read(tid, &sched);
	preload_life_begin(life, time_ns, cpu_ns, &sched);
	life->awake_ns = LOOK_LEAST_NS;
	life->seen_waited_ns = sched.waited_ns;
	life->due_ns = life->look_by_ns = time_ns + LOOK_LEAST_NS;
}

static void grow(struct preload_life *life, uint64_t part)
{
	life->awake_ns += life->awake_ns / part;
	if (life->awake_ns > AWAKE_MOST_NS)
		life->awake_ns = AWAKE_MOST_NS;
}

/* Whether it has slept since its last point, and did not only wait for a CPU. */
static bool has_slept(struct preload_life *life, pid_t tid, uint64_t time_ns, uint64_t cpu_ns)
{
	uint64_t used_ns = cpu_ns > life->cpu_ns ? cpu_ns - life->cpu_ns : 0;
	uint64_t waited_ns = life->seen_waited_ns;
	struct proc_sched sched;

	/* A look found it awake meanwhile, or there was no such time. */
	if (life->woke_ns > life->at_ns || time_ns < life->at_ns + used_ns + LOOK_LEAST_NS / 2)
		return false;
	if (!proc_sched_read(tid, &sched))
		return true;
	life->seen_waited_ns = sched.waited_ns;
	return time_ns - life->at_ns - used_ns > 2 * (sched.waited_ns - waited_ns);
}

void preload_looks_ran(struct preload_life *life, pid_t tid, const struct preload_record *head,
	uint32_t node, uint64_t interval_ns)
{
	uint64_t pause_ns = interval_ns + interval_ns / 2;

	if (!life->is_on)
		return;
	if (has_slept(life, tid, head->time_ns, head->cpu_ns))
		life->awake_ns = LOOK_LEAST_NS;
	else
		grow(life, AWAKE_PART);
	preload_life_ran(life, head->time_ns, head->cpu_ns, node);
	if (pause_ns > SILENT_MOST_NS)
		pause_ns = SILENT_MOST_NS;
	life->due_ns = head->time_ns + pause_ns;
	life->look_by_ns = head->time_ns + (pause_ns > life->awake_ns ? pause_ns : life->awake_ns);
}

static uint64_t pause_ns(const struct preload_life *life, uint64_t now_ns)
{
	uint64_t slept_ns = now_ns > life->asleep_ns ? now_ns - life->asleep_ns : 0;

	slept_ns /= SLEEP_PART;
	if (slept_ns < LOOK_LEAST_NS)
		return LOOK_LEAST_NS;
	return slept_ns < LOOK_MOST_NS ? slept_ns : LOOK_MOST_NS;
}

/* From a look to the next one. */
static uint64_t next_ns(struct preload_life *life, uint64_t now_ns)
{
	if (life->runs_ns == now_ns) {
		grow(life, 1);
		return life->awake_ns;
	}
	if (!life->is_asleep)
		return LOOK_LEAST_NS;
	life->awake_ns = LOOK_LEAST_NS;
	return pause_ns(life, now_ns);
}

/* Whether it has slept since, though its stack is not to be read. */
static bool is_asleep(pid_t pid, pid_t tid)
{
	struct proc_stat stat;

	return proc_stat_read(pid, tid, &stat) && stat.state != 'R';
}

/* It has been given a CPU since it was looked at; is it asleep again? */
static bool look_closely(struct preload_looks *l, struct preload_life *life, uint64_t now_ns,
	const struct proc_sched *before, struct perf_sample *sample)
{
	enum blocked_state state = blocked_stack_read(&l->reader, l->pid, l->tid, sample);
	struct proc_sched sched;

	l->reads_left--;
	if (state == BLOCKED_REFUSED && is_asleep(l->pid, l->tid))
		sample->time_ns = now_ns;
	else if (state != BLOCKED_ASLEEP) {
		preload_life_runs(life, now_ns);
		return false;
	}
	if (!proc_sched_read(l->tid, &sched) || sched.turns != before->turns)
		return false;
	uint64_t time_ns = sample->time_ns;
	uint32_t node = OFFCPU_NO_NODE;

	if (state == BLOCKED_ASLEEP)
		node = snapshot_walk(&l->recording->snapshot, sample).node;
	preload_life_slept(&l->lives, life, time_ns, &sched, node);
	return state == BLOCKED_ASLEEP;
}

enum preload_found preload_looks_look(struct preload_looks *l, struct preload_life *life, pid_t pid,
	pid_t tid, uint64_t now_ns, struct perf_sample *sample)
{
	struct proc_sched sched;
	bool has_stack = false;

	l->pid = pid;
	l->tid = tid;
	l->looks_left--;
	life->due_ns = life->look_by_ns = now_ns + LOOK_LEAST_NS;
	if (!proc_sched_read(tid, &sched))
		return PRELOAD_FOUND_GONE;
	life->seen_waited_ns = sched.waited_ns;
	if (life->is_asleep && sched.turns == life->turns)
		preload_life_sleeps_on(&l->lives, life, now_ns);
	else if (l->reads_left >= 1)
		has_stack = look_closely(l, life, now_ns, &sched, sample);
	life->due_ns = life->look_by_ns = now_ns + next_ns(life, now_ns);
	if (!life->is_asleep && now_ns > life->handed_ns + ASK_NS)
		preload_life_waited(&l->lives, life, now_ns, sched.waited_ns);
	return has_stack ? PRELOAD_FOUND_STACK : PRELOAD_FOUND_NOTHING;
}

void preload_looks_end(
	struct preload_looks *l, struct preload_life *life, pid_t pid, pid_t tid, uint64_t time_ns)
{
	uint64_t *counters = l->recording->snapshot.counters;

	l->pid = pid;
	l->tid = tid;
	preload_life_end(&l->lives, life, time_ns);
	counters[CAPTURE_ESTIMATED_BLOCKS] = l->lives.estimated;
	counters[CAPTURE_ESTIMATED_NS] = l->lives.estimated_ns;
}
