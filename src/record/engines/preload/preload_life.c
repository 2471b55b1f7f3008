/*
 * Time off the CPU by the difference of two clocks.
 *
 * A look finds a thread asleep with a chance that grows with the length of its sleep, so what lies
 * between two looks that found it in different blocks belongs to both, half and half: what is given
 * wrongly to one now is given wrongly to the other next time.  The same holds of the time between a
 * look that found it asleep and one that did not.  Where a record of the thread's own lies in
 * between, it divides them exactly.
 *
 * The wait for a CPU is taken out of the times between records of running, and what these do not
 * hold out of the block that ended: woken, a thread waits as well.
 */
#include "record/engines/preload/preload_life.h"

#include "base/clock.h"

/* A block that goes on is handed out in parts of this. */
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

/* Goes on to another point: how long it was off the CPU until there. */
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

/* Hands out the span; of *waited_ns as much as it can have been. */
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

/* What is over: the times between, and the block if it has ended. */
static void hand_out_all(struct preload_lives *lives, struct preload_life *life, uint64_t waited_ns)
{
	uint64_t more_ns = waited_ns > life->waited_ns ? waited_ns - life->waited_ns : 0;
	uint64_t left_ns = more_ns;

	life->between.node = OFFCPU_NO_NODE;
	hand_out(lives, life, &life->between, first_known(life->run_node, life->block.node),
		&left_ns);
	hand_out(
		lives, life, &life->block, first_known(life->block.node, life->run_node), &left_ns);
	/* What found no place yet is in times that end at a later point. */
	life->waited_ns += more_ns - left_ns;
	life->handed_ns = life->at_ns;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * Divides the time off the CPU up to another point among the block that was, the times between, and
 * the block that has begun, if it sleeps there: how much is the latter's.
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

	/* It was in other blocks in between. */
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
	/* A block that goes on may have the wait for its end still to come. */
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
