/*
 * Time off the CPU as the difference of two clocks, and checks of silent threads.
 *
 * The longer a thread sleeps, the likelier a check finds it asleep.  So the time between two checks
 * that found it in different blocks is divided in half between them: an error in one direction now
 * is made up by one in the other direction later.  The same holds between a check that found it
 * asleep and one that did not.  A record by the thread in between divides the time exactly.
 *
 * The wait for a CPU is assumed to be in the time off the CPU between records of running, and the
 * rest of it in the block that ended: a woken thread waits as well.
 *
 * A thread is checked soon after it should have written a record.  While it sleeps on, the next
 * check comes after a fraction of the time that it has slept, so that the number of checks is
 * logarithmic in the length of a sleep, and its end is known with that relative precision.
 *
 * A running thread must not wake us each time only to find its record.  So a check waits until
 * records are collected anyway, and longer, the longer the thread has not slept; a sleeping thread
 * is checked when it is due.
 *
 * A check reads one small file, in about 3 us, as long as the thread has not got a CPU since; only
 * then is its stack read, in about 30 us.  Both are limited, and beyond the limits checks become
 * rarer: the times recorded between two of them still add up.
 */
#include "record/engines/preload/preload_offcpu.h"

#include <unistd.h>

#include "base/clock.h"

/* ---- a thread's life ---- */

/* A continuing block is output in parts of this length. */
#define PART_NS SECOND_NS

void preload_life_begin(struct preload_life *life, uint64_t time_ns, uint64_t cpu_ns,
	const struct proc_sched *sched)
{
	*life = (struct preload_life){
		.is_on = true,
		.at_ns = time_ns,
		.cpu_ns = cpu_ns,
		.waited_ns = sched->waited_ns,
		.turns = sched->turns,
		.handed_ns = time_ns,
		.run_node = OFFCPU_NO_NODE,
		.block.node = OFFCPU_NO_NODE,
	};
}

/* Advances to another point.  Returns how long the thread was off the CPU until then. */
static uint64_t advance(struct preload_life *life, uint64_t time_ns, uint64_t cpu_ns)
{
	uint64_t wall_ns = time_ns > life->at_ns ? time_ns - life->at_ns : 0;
	uint64_t used_ns = cpu_ns > life->cpu_ns ? cpu_ns - life->cpu_ns : 0;

	life->at_ns += wall_ns;
	life->cpu_ns += used_ns;
	used_ns += life->debt_ns;
	life->debt_ns = used_ns > wall_ns ? used_ns - wall_ns : 0;
	return used_ns > wall_ns ? 0 : wall_ns - used_ns;
}

static void add(struct preload_span *span, uint64_t begin_ns, uint64_t end_ns, uint64_t off_ns)
{
	if (span->off_ns == 0)
		span->begin_ns = begin_ns;
	span->end_ns = end_ns;
	span->off_ns += off_ns;
}

static void count_estimated(struct preload_lives *lives, uint64_t count, uint64_t ns)
{
	lives->estimated += count;
	lives->estimated_ns += ns;
}

/*
 * Outputs the span.  As much of *waited_ns as fits into it counts as preempted, and is deducted
 * from *waited_ns.
 */
static void hand_out(struct preload_lives *lives, struct preload_life *life,
	struct preload_span *span, uint32_t node, uint64_t *waited_ns)
{
	uint64_t preempted_ns = span->off_ns < *waited_ns ? span->off_ns : *waited_ns;
	struct offcpu_interval interval = {
		.begin_ns = span->begin_ns,
		.end_ns = span->end_ns,
		.blocked_ns = span->off_ns - preempted_ns,
		.preempted_ns = preempted_ns,
		.blocks = 1,
		.node = node,
		.waker = OFFCPU_NOBODY,
		.lock = OFFCPU_NOBODY,
		.holder = OFFCPU_NOBODY,
		.estimated = node != span->node,
	};

	if (span->off_ns == 0)
		return;
	*waited_ns -= preempted_ns;
	if (interval.estimated)
		count_estimated(lives, 1, span->off_ns);
	lives->interval(lives->context, life, &interval);
	span->off_ns = 0;
}

static uint32_t first_known(uint32_t a, uint32_t b)
{
	return a != OFFCPU_NO_NODE ? a : b;
}

/* Outputs what has ended: the times in between, and the block if it has ended. */
static void hand_out_all(struct preload_lives *lives, struct preload_life *life, uint64_t waited_ns)
{
	uint64_t more_ns = waited_ns > life->waited_ns ? waited_ns - life->waited_ns : 0;
	uint64_t left_ns = more_ns;

	life->between.node = OFFCPU_NO_NODE;
	hand_out(lives, life, &life->between, first_known(life->run_node, life->block.node),
		&left_ns);
	hand_out(
		lives, life, &life->block, first_known(life->block.node, life->run_node), &left_ns);
	/* The rest of the wait belongs to times that end at a later point. */
	life->waited_ns += more_ns - left_ns;
	life->handed_ns = life->at_ns;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * Divides the time off the CPU up to another point among the last block, the times in between and,
 * if the thread sleeps there, the new block.  Returns the new block's part.
 */
static uint64_t divide(struct preload_life *life, uint64_t time_ns, uint64_t cpu_ns, bool sleeps)
{
	uint64_t begin_ns = life->at_ns, off_ns = advance(life, time_ns, cpu_ns);
	uint64_t before_ns = life->is_asleep ? off_ns : 0, after_ns = sleeps ? off_ns : 0;

	if (life->woke_ns > begin_ns && life->runs_ns <= time_ns) {
		before_ns = least(before_ns, (life->woke_ns - begin_ns) / 2);
		after_ns = least(after_ns, (time_ns - life->runs_ns) / 2);
	} else if (life->is_asleep && sleeps) {
		before_ns /= 2;
	}
	after_ns = least(after_ns, off_ns - before_ns);
	life->woke_ns = 0;
	if (before_ns > 0)
		add(&life->block, begin_ns, begin_ns + before_ns, before_ns);
	if (off_ns > before_ns + after_ns)
		add(&life->between, begin_ns + before_ns, time_ns - after_ns,
			off_ns - before_ns - after_ns);
	return after_ns;
}

void preload_life_ran(struct preload_life *life, uint64_t time_ns, uint64_t cpu_ns, uint32_t node)
{
	life->run_node = first_known(node, life->run_node);
	if (time_ns <= life->at_ns)
		return;
	(void)divide(life, time_ns, cpu_ns, false);
	life->is_asleep = false;
}

void preload_life_runs(struct preload_life *life, uint64_t time_ns)
{
	if (life->woke_ns <= life->at_ns)
		life->woke_ns = time_ns;
	life->runs_ns = time_ns;
}

void preload_life_slept(struct preload_lives *lives, struct preload_life *life, uint64_t time_ns,
	const struct proc_sched *sched, uint32_t node)
{
	uint64_t turns = sched->turns - life->turns, wall_ns = time_ns - life->at_ns;
	bool is_unseen = life->is_asleep && turns > 1 && life->woke_ns == 0;
	uint64_t off_ns = divide(life, time_ns, sched->ran_ns, true);

	/* There were other blocks in between. */
	if (is_unseen)
		count_estimated(lives, turns - 1, wall_ns - wall_ns / turns);
	hand_out_all(lives, life, sched->waited_ns);
	life->block = (struct preload_span){.node = node};
	if (off_ns > 0)
		add(&life->block, time_ns - off_ns, time_ns, off_ns);
	life->turns = sched->turns;
	life->is_asleep = true;
	life->asleep_ns = time_ns;
}

void preload_life_sleeps_on(
	struct preload_lives *lives, struct preload_life *life, uint64_t time_ns)
{
	uint64_t begin_ns = life->at_ns, none_ns = 0;

	add(&life->block, begin_ns, time_ns, advance(life, time_ns, life->cpu_ns));
	if (life->block.off_ns < PART_NS)
		return;
	hand_out(
		lives, life, &life->block, first_known(life->block.node, life->run_node), &none_ns);
}

void preload_life_waited(struct preload_lives *lives, struct preload_life *life, uint64_t time_ns,
	uint64_t waited_ns)
{
	/* The wait at the end of a continuing block may still come. */
	if (life->is_asleep || first_known(life->run_node, life->block.node) == OFFCPU_NO_NODE)
		return;
	hand_out_all(lives, life, waited_ns);
	life->handed_ns = time_ns;
}

void preload_life_end(struct preload_lives *lives, struct preload_life *life, uint64_t time_ns)
{
	if (!life->is_on)
		return;
	if (life->is_asleep && time_ns > life->at_ns)
		preload_life_sleeps_on(lives, life, time_ns);
	hand_out_all(lives, life, life->waited_ns);
	life->is_on = false;
}

/* ---- checks ---- */

/* The next check comes after this fraction of the sleep so far. */
#define SLEEP_PART    16
#define LOOK_LEAST_NS (SECOND_NS / 1000)
#define LOOK_MOST_NS  SECOND_NS
/* The latest check of a thread that should have written a record. */
#define SILENT_MOST_NS (2 * LOOK_LEAST_NS)
/*
 * Checks of a thread that does not sleep wait at most this long for another reason to wake; the
 * time grows by this fraction with each record.
 */
#define AWAKE_MOST_NS (10 * LOOK_LEAST_NS)
#define AWAKE_PART    32
/* How often a running thread's wait for a CPU is read. */
#define ASK_NS (SECOND_NS / 20)
/* Checks and reads per second; at most a tenth of that at once. */
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

/* Whether it has slept since its last point, and not only waited for a CPU. */
static bool has_slept(struct preload_life *life, pid_t tid, uint64_t time_ns, uint64_t cpu_ns)
{
	uint64_t used_ns = cpu_ns > life->cpu_ns ? cpu_ns - life->cpu_ns : 0;
	uint64_t waited_ns = life->seen_waited_ns;
	struct proc_sched sched;

	/* A check found it awake in between, or there was no time for a sleep. */
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

/* The time from a check to the next one. */
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

/* Whether it sleeps, even if its stack may not be read. */
static bool is_asleep(pid_t pid, pid_t tid)
{
	struct proc_stat stat;

	return proc_stat_read(pid, tid, &stat) && stat.state != 'R';
}

/* It got a CPU since the last check.  Is it asleep again? */
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
