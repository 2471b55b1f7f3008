/*
 * Three small controllers of the snapshot engine.
 *
 * The size of copies follows the needs of walks.
 *
 * A partly full ring wakes us, so draining earlier matters only for stacks.  While they are deep,
 * the rings are drained soon after each sample: it wakes us, or is expected.
 *
 * Threads are considered short-lived if many samples are missing, but no more than the number of
 * threads that have ended explains.  The quick clock is stopped when few threads are created again;
 * clocks on the CPUs stay.
 */
#include "record/engines/perf/tuning.h"

#include "base/clock.h"

/* ---- the size of copies ---- */

enum {
	PATIENCE_FIRST = 1024,
	PATIENCE_GROWTH = 4,
	PATIENCE_MAX = 1 << 18,
	/* Of LOOK_AFTER walks, BEYOND_MAX may need more than the small copy. */
	LOOK_AFTER = 1024,
	BEYOND_MAX = 1,
};

void clock_choice_init(struct clock_choice *c)
{
	*c = (struct clock_choice){.patience = PATIENCE_FIRST};
}

static void look_again(struct clock_choice *c)
{
	c->walks = c->beyond = 0;
}

static void choose(struct clock_choice *c, bool small)
{
	c->small = small;
	look_again(c);
}

static void give_up_small(struct clock_choice *c)
{
	choose(c, false);
	if (c->patience < PATIENCE_MAX)
		c->patience *= PATIENCE_GROWTH;
}

void clock_choice_walked(struct clock_choice *c, bool beyond)
{
	c->walks++;
	c->beyond += beyond;
	if (c->small) {
		if (c->beyond > BEYOND_MAX)
			give_up_small(c);
		else if (c->walks >= LOOK_AFTER)
			look_again(c);
	} else if (c->walks >= c->patience) {
		if (c->beyond == 0)
			choose(c, true);
		else
			look_again(c);
	}
}

/* ---- how often the rings are drained ---- */

/* Time between checks of the rings. */
#define POLL_NS (SECOND_NS / 50)
/* Maximum time while stacks are deep and several threads run. */
#define POLL_DEEP_NS (SECOND_NS / 2000)
#define POLL_DUE_NS  (SECOND_NS / 60000)
/*
 * The later a sample is, the longer its thread will probably stay off the CPU; but it may come
 * back.
 */
#define POLL_LATE_NS (SECOND_NS / 500)
#define DEEP_NS	     (SECOND_NS / 2)
/* While the stacks of threads off the CPU should be read from outside. */
#define POLL_BLOCKED_NS (SECOND_NS / 500)

void drain_pace_sampled(struct drain_pace *p, uint64_t time_ns, int64_t tid)
{
	p->sampled_ns = time_ns;
	p->takes_turns = p->sampled_tid != tid;
	p->sampled_tid = tid;
}

/* How long to sleep while stacks are deep. */
static uint64_t deep_time_ns(const struct drain_pace *p, uint64_t now_ns, uint64_t interval_ns)
{
	uint64_t due_ns = p->sampled_ns + interval_ns + POLL_DUE_NS;
	uint64_t most_ns = p->takes_turns ? POLL_DEEP_NS : POLL_LATE_NS;
	/* If it is late, wait that long again, to make checks rarer. */
	uint64_t wait_ns = due_ns > now_ns ? due_ns - now_ns : now_ns - due_ns;

	if (wait_ns < POLL_DUE_NS)
		return POLL_DUE_NS;
	return wait_ns < most_ns ? wait_ns : most_ns;
}

bool drain_pace_is_deep(struct drain_pace *p, uint64_t now_ns, uint64_t reads)
{
	if (reads != p->reads)
		p->deep_until_ns = now_ns + DEEP_NS;
	p->reads = reads;
	return now_ns < p->deep_until_ns;
}

uint64_t drain_pace_wait_ns(const struct drain_pace *p, uint64_t now_ns, uint64_t interval_ns,
	bool is_woken, bool is_waiting)
{
	if (now_ns < p->deep_until_ns && !is_woken)
		return deep_time_ns(p, now_ns, interval_ns);
	return is_waiting ? POLL_BLOCKED_NS : POLL_NS;
}

/* ---- short-lived threads ---- */

/* With this many missing samples, and this share of all, the CPUs' clocks are worth their cost. */
#define MISSING_MIN  12
#define MISSING_PART 50
/* More new threads than this in a check are many; this many checks with fewer are calm. */
#define QUICK_THREADS 4
#define QUICK_CALM    10

static uint64_t threads_so_far(const struct perf_tally *tally)
{
	return process_table_thread_total(tally->recording->processes);
}

/*
 * How many missing samples threads explain, because they may have been short: two each.  Others are
 * not short, and must not explain samples that are missing because ticks come late on a busy
 * machine, or in the kernel, where they may not be allowed.
 */
static uint64_t explained(const struct short_lives *s)
{
	return 2 * s->ended;
}

void short_lives_begin(struct short_lives *s, const struct perf_tally *tally)
{
	s->begin_ns = clock_monotonic_ns();
	s->threads = threads_so_far(tally);
}

void short_lives_ended(struct short_lives *s, const struct thread *thread)
{
	s->ended += thread->start_ns >= s->begin_ns;
}

static bool are_short(
	const struct short_lives *s, struct perf_tally *tally, uint64_t due, uint64_t interval_ns)
{
	uint64_t found =
		tally->recording->sampled_ns / interval_ns + perf_tally_lost(tally) + s->forgiven;

	if (found + MISSING_MIN > due || found > due - due / MISSING_PART)
		return false;
	return due - found <= explained(s);
}

static void help(struct short_lives *s, struct perf_event_set *events)
{
	if (!s->widen_refused)
		s->widen_refused = !perf_event_set_widen(events);
	if (s->widen_refused)
		s->is_quick = perf_event_set_quicken(events, true);
}

static void end_when_calm(struct short_lives *s, struct perf_event_set *events, uint64_t threads)
{
	s->calm = threads - s->threads > QUICK_THREADS ? 0 : s->calm + 1;
	s->threads = threads;
	if (!s->is_quick || s->calm < QUICK_CALM)
		return;
	perf_event_set_quicken(events, false);
	s->is_quick = false;
}

uint64_t short_lives_due(const struct short_lives *s, const struct perf_event_set *events,
	struct perf_tally *tally, uint64_t interval_ns)
{
	/* Reading the clocks interrupts the target, so do not do it for a few threads. */
	if (events->is_wide || s->is_quick || explained(s) < MISSING_MIN)
		return 0;
	return perf_tally_counts(tally).cpu_ns / interval_ns;
}

void short_lives_forgive(struct short_lives *s, const struct perf_event_set *events,
	const struct perf_tally *tally, uint64_t interval_ns)
{
	struct perf_event_counts counts = perf_event_set_counts(events);
	uint64_t due = counts.cpu_ns / interval_ns;
	uint64_t found = tally->recording->sampled_ns / interval_ns + counts.lost;

	s->forgiven = due > found ? due - found : 0;
}

void short_lives_watch(struct short_lives *s, struct perf_event_set *events,
	struct perf_tally *tally, uint64_t interval_ns, uint64_t due)
{
	if (due > 0 && are_short(s, tally, due, interval_ns))
		help(s, events);
	end_when_calm(s, events, threads_so_far(tally));
}
