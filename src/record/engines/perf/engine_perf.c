/*
 * The snapshot engine: perf events leave the registers and a copy of the top of the stack in ring
 * buffers at each sample; these are walked straight from the ring.
 *
 * The exact engine is the same with a BPF program at each event that samples (exact.h).  As it
 * copies what is needed of the stack, the copy in the sample is small, and so are the rings.  Where
 * it is allowed and no engine was asked for, one becomes the other as soon as the program is loaded
 * (engine_perf_exact.c).
 *
 * Events hang up when their last task is gone, but also when the kernel takes them off a task that
 * a set-uid exec has made more powerful: the target must go on undisturbed then, so its end is
 * never learned from an event.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "record/engines/perf/engine_perf_state.h"

/* With the exact engine. */
#define EXACT_RING_BYTES ((size_t)4 << 20)
/* Events that hung up this long before a target is seen to go on did not do so with its end. */
#define HANG_UP_NS (SECOND_NS / 10)

static struct engine_perf *self(struct engine *e)
{
	return (struct engine_perf *)e;
}

static void drain(struct engine *engine)
{
	struct engine_perf *e = self(engine);

	engine_perf_drain(e);
	engine_perf_exact_look(e);
}

/* ---- waiting ---- */

/* Whether it is ours to look when a ring of that stream fills up. */
static bool is_polled(const struct engine_perf *e, enum perf_stream stream)
{
	return !e->keeper || stream == PERF_STREAM_TRACK;
}

static void poll_fds(struct engine *engine, pollfd_vec *fds)
{
	struct engine_perf *e = self(engine);

	for (size_t i = 0; i < e->events.cpus.count; i++)
		for (enum perf_stream s = 0; s < PERF_STREAM_COUNT; s++)
			if (e->events.cpus.data[i].anchor_fd[s] >= 0 && is_polled(e, s))
				vec_push(fds,
					(struct pollfd){.fd = e->events.cpus.data[i].anchor_fd[s],
						.events = POLLIN});
	if (e->exact_poll_fd >= 0)
		vec_push(fds, (struct pollfd){.fd = e->exact_poll_fd, .events = POLLIN});
}

static uint64_t wait_ns(struct engine *engine)
{
	struct engine_perf *e = self(engine);
	/* Who waits is looked at from outside: at its stack, and at who holds its lock. */
	bool is_looking = e->options->locks || !perf_event_set_has_switch_stacks(&e->events);
	bool is_waiting = is_looking && switches_are_waiting(&e->switches);

	uint64_t most_ns = preload_wake_wait_ns(e->wake);
	uint64_t wait_ns = drain_pace_wait_ns(&e->pace, clock_monotonic_ns(),
		e->options->interval_ns << e->halvings, e->recording->snapshot.memory.read_count,
		is_waiting);

	return wait_ns < most_ns ? wait_ns : most_ns;
}

/* ---- watching ---- */

static void watch(struct engine *engine)
{
	struct engine_perf *e = self(engine);
	uint64_t interval_ns = e->options->interval_ns, due = 0;
	bool was_wide = e->events.is_wide;

	if (e->halvings == 0)
		due = short_lives_due(&e->lives, &e->events, &e->tally, interval_ns);
	if (due > 0)
		engine_perf_drain(e);
	short_lives_watch(&e->lives, &e->events, &e->tally, interval_ns, due);
	e->rate_changed |= e->lives.is_quick;
	if (e->events.is_wide && !was_wide) {
		engine_perf_exact_widened(e);
		e->recording->by_process = true;
	}
	if (e->wake)
		preload_wake_sweep(e->wake);
	if (e->hung_up_ns == 0 && !e->events.is_wide && perf_event_set_hung_up(&e->events))
		e->hung_up_ns = clock_monotonic_ns();
}

/* ---- start and end ---- */

static void slow_down(struct engine *engine, uint32_t halvings)
{
	struct engine_perf *e = self(engine);

	e->halvings = halvings;
	e->rate_changed = true;
	perf_event_set_choose(&e->events, halvings, e->choice.small);
	counters_slow_down(&e->counters, halvings);
	if (e->wake)
		preload_wake_set_interval(e->wake, e->options->interval_ns << halvings);
}

static void stop_at(struct engine *engine, uint64_t time_ns)
{
	struct engine_perf *e = self(engine);

	e->stop_ns = time_ns;
	if (e->keeper)
		keeper_stop_at(e->keeper, time_ns);
}

static void stop(struct engine *engine)
{
	struct engine_perf *e = self(engine);

	e->stop_ns = 0;
	perf_event_set_stop(&e->events);
	if (e->wake)
		preload_wake_stop(e->wake);
	if (e->stopped_ns == 0)
		e->stopped_ns = clock_monotonic_ns();
}

static void counts(struct engine *engine, struct engine_counts *counts)
{
	struct engine_perf *e = self(engine);
	struct perf_event_counts counted = perf_tally_counts(&e->tally);

	*counts = (struct engine_counts){
		.cpu_ns = e->events.is_wide || e->attached.doubles ? UINT64_MAX : counted.cpu_ns,
		.asked_ns = e->tally.asked_ns,
		.left_out = e->attached.left_out,
		.lost = perf_tally_lost(&e->tally),
		.lost_rests = e->exact ? exact_counts(e->exact).lost : 0,
		.stolen_ns = e->stolen_ns,
		.thinned = e->thinning.dropped,
		.rate_changed = e->rate_changed || e->thinning.dropped > 0,
		.kernel = e->events.grant.kernel,
	};
	/* Where a thread has the events twice, or others have them too, they count more. */
	if (e->wake)
		preload_wake_tell(e->wake, counts);
	bool is_whole = !e->attached.doubles && (!e->events.is_wide || e->everybody);

	counters_tell(&e->counters, &counted, is_whole, counts);
}

static bool has_ended(struct engine *engine, uint64_t alive_ns)
{
	struct engine_perf *e = self(engine);

	return e->hung_up_ns != 0 && alive_ns > e->hung_up_ns + HANG_UP_NS;
}

static void close_engine(struct engine *engine)
{
	struct engine_perf *e = self(engine);

	keeper_destroy(e->keeper);
	preload_wake_close(e->wake);
	process_table_unhook(e->recording->processes, e);
	ring_merge_deinit(&e->merge);
	switches_deinit(&e->switches);
	wakers_deinit(&e->wakers);
	locks_deinit(&e->locks);
	perf_event_set_close(&e->events);
	engine_perf_exact_close(e);
	free(e);
}

#define CALLS                                                                                      \
	.poll_fds = poll_fds, .drain = drain, .stop_at = stop_at, .wait_ns = wait_ns,              \
	.watch = watch, .slow_down = slow_down, .stop = stop, .counts = counts,                    \
	.has_ended = has_ended, .close = close_engine

const struct engine_ops engine_perf_ops = {.name = "snapshot", CALLS};

const struct engine_ops engine_perf_exact_ops = {.name = "exact", CALLS};

static void merge_rings(struct engine_perf *e)
{
	for (size_t i = 0; i < e->events.cpus.count; i++) {
		struct perf_event_cpu *cpu = &e->events.cpus.data[i];

		/* Of records of one time the tracks go first: what they tell is then known. */
		ring_merge_add(&e->merge, &cpu->ring[PERF_STREAM_TRACK]);
		ring_merge_add(&e->merge, &cpu->ring[PERF_STREAM_SAMPLES]);
		/* A stack is that of the switch which comes next. */
		if (cpu->anchor_fd[PERF_STREAM_SWITCH_STACKS] >= 0)
			ring_merge_add(&e->merge, &cpu->ring[PERF_STREAM_SWITCH_STACKS]);
		if (cpu->anchor_fd[PERF_STREAM_COUNTERS] >= 0)
			ring_merge_add(&e->merge, &cpu->ring[PERF_STREAM_COUNTERS]);
		if (cpu->anchor_fd[PERF_STREAM_SWITCHES] >= 0)
			ring_merge_add(&e->merge, &cpu->ring[PERF_STREAM_SWITCHES]);
		if (cpu->anchor_fd[PERF_STREAM_WAKINGS] >= 0)
			ring_merge_add(&e->merge, &cpu->ring[PERF_STREAM_WAKINGS]);
	}
}

/* The events and their rings; those on attached processes follow. */
static struct error *open_plain_events(
	struct engine_perf *e, const struct target *target, const struct perf_event_spec *spec)
{
	struct error *err;

	if (target->kind == TARGET_COMMAND)
		return perf_event_set_open(&e->events, spec, target->launch.pid, true);
	err = perf_event_set_prepare(&e->events, spec, e->everybody ? -1 : 0);
	if (err || !e->everybody)
		return err;
	process_table_expect_old(e->recording->processes);
	int code = perf_event_set_add(&e->events, -1);

	return code ? error_system(code, "perf_event_open") : NULL;
}

/* What a running target needs beyond them: sampling of a launched one begins with its exec. */
static struct error *begin(struct engine_perf *e, const struct target *target)
{
	struct error *err = NULL;

	if (target->kind == TARGET_PROCESSES)
		err = perf_attach(&e->events, &e->merge, e->recording, target, &e->attached);
	if (!err && e->events.spec.switches)
		switches_init(&e->switches, e->recording, target->kind != TARGET_COMMAND,
			e->options->wakers, e->options->locks ? &e->locks : NULL);
	if (!err && target->kind != TARGET_COMMAND)
		perf_event_set_go_on(&e->events);
	short_lives_begin(&e->lives, &e->tally);
	return err;
}

/* The events, with the program at them if the kernel lets it. */
static struct error *open_events(
	struct engine_perf *e, const struct target *target, const struct perf_event_spec *spec)
{
	struct perf_event_spec exact = *spec;
	struct error *err;

	if (!e->exact)
		return open_plain_events(e, target, spec);
	exact.exact = e->exact;
	exact.stack_bytes_most = EXACT_DUMP_BYTES;
	exact.ring_bytes_most = EXACT_RING_BYTES;
	err = open_plain_events(e, target, &exact);
	if (!err)
		return NULL;
	perf_event_set_close(&e->events);
	engine_perf_exact_give_up(e, err);
	return open_plain_events(e, target, spec);
}

/* ---- opening ---- */

/* Whether a quick clock is the only help against short lives. */
static bool may_hurry(const struct engine_setup *setup)
{
	return setup->target->kind == TARGET_COMMAND &&
	       perf_attr_try(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, false, true) != 0;
}

struct error *engine_perf_open(const struct engine_setup *setup, struct engine **engine)
{
	struct engine_perf *e = xalloc(sizeof(*e));
	bool real = setup->options->clock != RECORDER_CLOCK_VIRTUAL;
	struct perf_event_spec spec = {
		.interval_ns = setup->options->interval_ns,
		.halvings = setup->options->overhead_most > 0 ? ENGINE_HALVINGS : 0,
		.quick = may_hurry(setup),
		.switches = real,
		.switch_stacks = real,
	};
	struct error *err = NULL;

	e->engine = (struct engine){.ops = &engine_perf_ops, .has_real_clock = real};
	e->recording = setup->recording;
	e->tally = (struct perf_tally){.events = &e->events, .recording = e->recording};
	e->options = setup->options;
	e->price = setup->price;
	e->everybody = setup->target->kind == TARGET_MACHINE;
	spec.counters = setup->options->counters;
	spec.counter_count = setup->options->counter_count;
	clock_choice_init(&e->choice);
	e->exact_poll_fd = -1;
	if (setup->options->engine == RECORDER_ENGINE_EXACT)
		engine_perf_exact_open(e);
	else if (setup->options->engine == RECORDER_ENGINE_AUTO)
		engine_perf_exact_begin(e);
	if (setup->options->wakers) {
		spec.waking = &e->waking;
		wakers_init(&e->wakers, e->recording->processes, &e->recording->labels);
		err = waking_format_read(&e->waking);
	}
	if (setup->options->locks)
		locks_init(&e->locks, e->recording->processes, &e->recording->labels);
	if (!err)
		err = open_events(e, setup->target, &spec);
	if (!err) {
		merge_rings(e);
		counters_init(&e->counters, &e->events, e->recording);
		engine_perf_watch_threads(e);
		e->keeper = keeper_create(&e->events);
		if (e->keeper && e->exact)
			keeper_serve(e->keeper, e->exact);
		err = begin(e, setup->target);
	}
	if (err) {
		close_engine(&e->engine);
		return err;
	}
	e->wake = setup->wake;
	if (e->wake)
		preload_wake_begin(e->wake, e->recording, engine_perf_woke, e);
	*engine = &e->engine;
	return NULL;
}
