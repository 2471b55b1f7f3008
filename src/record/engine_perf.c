/*
 * The snapshot engine: perf events leave the registers and a copy of the top of the stack in ring
 * buffers at each sample; these are walked straight from the ring.
 *
 * The exact engine is the same with a BPF program at each event that samples (exact.h).  As it
 * copies what is needed of the stack, the copy in the sample is small, and so are the rings.
 *
 * Events hang up when their last task is gone, but also when the kernel takes them off a task that
 * a set-uid exec has made more powerful: the target must go on undisturbed then, so its end is
 * never learned from an event.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "record/clock_choice.h"
#include "record/counters.h"
#include "record/engine.h"
#include "record/exact.h"
#include "record/perf_attach.h"
#include "record/perf_event.h"
#include "record/perf_record.h"
#include "record/ring.h"
#include "record/sideband.h"
#include "record/switches.h"

/*
 * With the exact engine.  Of the sizes tried, from 512 bytes to 16 KB, this one costs the target
 * least.
 */
#define EXACT_DUMP_BYTES  4096u
#define EXACT_RING_BYTES  ((size_t)4 << 20)
#define EXACT_RESTS_BYTES ((size_t)16 << 20)
/* Between looks at the rings; a ring half full wakes us before. */
#define POLL_NS (SECOND_NS / 50)
/*
 * While stacks are deeper than their dumps: their rest is to be read before it changes, so soon
 * after the next sample is due, and no later than this where there are several threads.
 */
#define POLL_DEEP_NS (SECOND_NS / 2000)
#define POLL_DUE_NS  (SECOND_NS / 60000)
/* The later a sample is the longer its thread will be off the CPU, but it may come back. */
#define POLL_LATE_NS (SECOND_NS / 500)
#define DEEP_NS	     (SECOND_NS / 2)
/* So many samples missing, and such a part of all, make the CPUs' clocks worth their price. */
#define SHORT_LIVES_LEAST 12
#define SHORT_LIVES_PART  50
/* Such a part of the time, at most, goes into asking the events what they count. */
#define COUNTS_PART 200
/* What the record of a switch costs the target. */
#define SWITCH_PRICE_NS 300
/* While threads are off the CPU whose stacks are to be read from outside. */
#define POLL_BLOCKED_NS (SECOND_NS / 500)
/* So many threads from one look to the next are many; so many looks with fewer are calm. */
#define QUICK_THREADS 4
#define QUICK_CALM    10
/* Events that hung up this long ago did not do so with the target's end. */
#define HANG_UP_NS (SECOND_NS / 10)

struct engine_perf {
	struct engine engine;
	struct recording *recording;
	const struct recorder_options *options;
	struct perf_event_set events;
	struct perf_event_counts counts; /* when last asked */
	uint64_t counts_due_ns;		 /* not to be asked before */
	struct exact *exact;		 /* NULL: the snapshot engine */
	struct perf_attach_result attached;
	bool everybody; /* is the target */
	struct ring_merge merge;
	struct clock_choice choice;
	struct budget_price price;
	uint64_t stolen_ns;
	uint32_t halvings;
	struct switches switches;
	struct counters counters;
	uint64_t sampled_ns;	/* when the last sample was taken */
	int64_t sampled_tid;	/* of whom */
	bool takes_turns;	/* the sample before was another thread's */
	uint64_t deep_until_ns; /* a stack was deeper than its dump, so look often until then */
	uint64_t reads;		/* of the live process, at the last look */
	uint64_t hung_up_ns;	/* when the events were first seen hung up; 0: they are not */
	uint64_t lost_records;
	uint64_t passed_over; /* samples of others, by wide clocks */
	bool widen_refused;
	bool rate_changed;
	bool is_quick;	  /* the quick clock runs, in place of wide ones */
	uint64_t threads; /* so far, at the last look */
	uint32_t calm;	  /* looks since many threads began */
};

static struct engine_perf *self(struct engine *e)
{
	return (struct engine_perf *)e;
}

/*
 * What the events count.  Where they are many it is asked less often than it is wanted, but is
 * exact once sampling has stopped.
 */
static struct perf_event_counts event_counts(struct engine_perf *e)
{
	uint64_t now_ns = clock_monotonic_ns();

	if (now_ns < e->counts_due_ns && !e->events.is_stopped)
		return e->counts;
	e->counts = perf_event_set_counts(&e->events);
	uint64_t took_ns = clock_monotonic_ns() - now_ns;

	e->counts_due_ns = now_ns + took_ns * COUNTS_PART;
	return e->counts;
}

/*
 * Losses so far: the larger of what the rings told and what the events count.  Of what wide clocks
 * have lost, ours is taken to be the part that it is of all samples, rounded up.
 */
static uint64_t lost_samples(struct engine_perf *e)
{
	uint64_t counted = event_counts(e).lost, samples = e->recording->samples;

	if (counted < e->lost_records)
		counted = e->lost_records;
	if (counted == 0 || e->passed_over == 0)
		return counted;
	return (counted * samples + samples + e->passed_over - 1) / (samples + e->passed_over);
}

/* ---- draining ---- */

static void take_loss(struct engine_perf *e, const struct perf_event_header *header)
{
	uint64_t count = perf_record_lost(header);

	switch (perf_event_set_stream(&e->events, e->merge.current->ring)) {
	case PERF_STREAM_SAMPLES:
		e->lost_records += count;
		break;
	case PERF_STREAM_TRACK:
		e->recording->lost_sideband += count;
		break;
	case PERF_STREAM_SWITCHES:	/* each is noticed by itself */
	case PERF_STREAM_SWITCH_STACKS: /* blocks without one are estimated */
	case PERF_STREAM_COUNTERS:	/* the events tell */
	case PERF_STREAM_COUNT:
		break;
	}
}

/* Wide clocks sample everybody. */
static bool is_ours(const struct engine_perf *e, const struct perf_sample *sample)
{
	if (e->everybody)
		return true;
	if (e->events.is_wide && !process_table_find_late(e->recording->processes, sample->pid))
		return false;
	if (e->exact)
		exact_know(e->exact, sample->pid);
	return true;
}

/* Whether it is about a process that has ended: how it leaves its CPU is no more of interest. */
static bool is_over(const struct engine_perf *e, int64_t pid)
{
	const struct process *p = process_table_find_late(e->recording->processes, pid);

	return p && p->is_over;
}

/* Whether the thread has events of a higher rank, which report the same: see perf_attach.h. */
static bool is_double(const struct engine_perf *e, const struct perf_source *source, int64_t pid,
	int64_t tid, uint64_t time_ns)
{
	if (!e->attached.doubles || !source)
		return false;
	struct thread *thread = process_table_meet(e->recording->processes, pid, tid, time_ns);

	if (source->rank < thread->rank)
		return true;
	thread->rank = source->rank;
	return false;
}

/* What the walk of a sample has told of how much of the stack is worth its copy. */
static void learn_reach(struct engine_perf *e)
{
	uint32_t small_bytes = perf_event_set_small_bytes(&e->events);

	if (small_bytes == 0)
		return;
	clock_choice_walked(&e->choice, e->recording->snapshot.reach_bytes > small_bytes);
	perf_event_set_choose(&e->events, e->halvings, e->choice.small);
}

static void take_clock(struct engine_perf *e, const struct perf_sample *sample)
{
	struct snapshot_place place = recording_take_clock(e->recording, sample);

	learn_reach(e);
	if (!place.thread->is_over)
		switches_take_clock(&e->switches, place, sample->time_ns);
	e->sampled_ns = sample->time_ns;
	e->takes_turns = e->sampled_tid != sample->tid;
	e->sampled_tid = sample->tid;
}

/* Whether a stack is of a preemption, as far as the record of that, which comes next, is there. */
static bool is_preemption(const struct engine_perf *e, const struct perf_sample *sample)
{
	struct ring *stacks = e->merge.current->ring;
	const struct perf_event_header *next =
		ring_record(stacks - PERF_STREAM_SWITCH_STACKS + PERF_STREAM_SWITCHES);
	struct perf_switch record;

	if (!next ||
		(next->type != PERF_RECORD_SWITCH && next->type != PERF_RECORD_SWITCH_CPU_WIDE))
		return false;
	perf_record_switch(next, &record);
	return record.tid == sample->tid && record.out && record.preempted;
}

static void take_switch_stack(struct engine_perf *e, const struct perf_sample *sample)
{
	if (is_over(e, sample->pid))
		return;
	bool preempted = is_preemption(e, sample);
	uint64_t reads = e->recording->snapshot.memory.read_count;

	if (preempted && switches_take_preempted(&e->switches, sample))
		return;
	switches_take_stack(&e->switches, sample);
	/* Its copy is smaller than the clock's. */
	if (preempted)
		e->reads += e->recording->snapshot.memory.read_count - reads;
}

/* That were copied for the last sample besides what is in it. */
static uint64_t rest_bytes(const struct engine_perf *e)
{
	const struct stack_rest *rest = &e->recording->snapshot.rest;
	uint64_t bytes = 0;

	for (size_t i = 0; e->exact && i < rest->pieces.count; i++)
		bytes += rest->pieces.data[i].size_bytes;
	return bytes;
}

static void take_price(struct engine_perf *e, const struct perf_sample *sample)
{
	e->stolen_ns += e->price.sample_ns +
			e->price.kilobyte_ns * (sample->stack_size + rest_bytes(e)) / 1024;
}

static void take_counter(struct engine_perf *e, const struct perf_event_header *header,
	const struct perf_source *source)
{
	struct counted_sample counted;
	const struct perf_sample *sample = &counted.sample;

	if (!counters_read(&e->counters, header, source, &counted) || !is_ours(e, sample))
		return;
	take_price(e, sample);
	if (is_double(e, source, sample->pid, sample->tid, sample->time_ns))
		return;
	uint64_t reads = e->recording->snapshot.memory.read_count;

	counters_take(&e->counters, &counted);
	/* Whether stacks are deep is for the clock to say: these come from odd places, too. */
	e->reads += e->recording->snapshot.memory.read_count - reads;
}

static void take_sample(struct engine_perf *e, const struct perf_event_header *header)
{
	const struct perf_source *source =
		perf_event_set_find(&e->events, perf_record_event_id(header));
	enum perf_stream stream = perf_event_set_stream(&e->events, e->merge.current->ring);
	struct perf_sample sample;

	if (stream == PERF_STREAM_COUNTERS) {
		take_counter(e, header, source);
		return;
	}
	if (!perf_record_sample(header, e->events.grant.kernel, &sample))
		return;
	if (!is_ours(e, &sample)) {
		e->passed_over++;
		return;
	}
	take_price(e, &sample);
	if (is_double(e, source, sample.pid, sample.tid, sample.time_ns))
		return;
	if (stream == PERF_STREAM_SWITCH_STACKS)
		take_switch_stack(e, &sample);
	else
		take_clock(e, &sample);
}

static void take_switch(struct engine_perf *e, const struct perf_event_header *header)
{
	struct perf_switch record;

	perf_record_switch(header, &record);
	if (is_over(e, record.pid) ||
		(e->events.tracks_all && !e->everybody &&
			!process_table_find(e->recording->processes, record.pid)))
		return;
	e->stolen_ns += SWITCH_PRICE_NS;
	if (is_double(e, perf_event_set_find(&e->events, record.event_id), record.pid, record.tid,
		    record.time_ns))
		return;
	switches_take(&e->switches, &record);
}

static void take_throttling(struct engine_perf *e)
{
	if (perf_event_set_stream(&e->events, e->merge.current->ring) == PERF_STREAM_SAMPLES)
		e->recording->throttled++;
}

static void take_record(struct engine_perf *e, const struct perf_event_header *header)
{
	switch (header->type) {
	case PERF_RECORD_SAMPLE:
		take_sample(e, header);
		break;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		take_loss(e, header);
		break;
	case PERF_RECORD_THROTTLE:
		take_throttling(e);
		break;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		take_switch(e, header);
		break;
	default:
		if (!e->events.tracks_all || e->everybody ||
			sideband_concerns(e->recording->processes, header))
			sideband_apply(e->recording->processes, header);
		break;
	}
}

static void drain(struct engine *engine)
{
	struct engine_perf *e = self(engine);
	const struct perf_event_header *header;
	uint64_t horizon_ns = clock_monotonic_ns();

	ring_merge_look(&e->merge);
	while ((header = ring_merge_next(&e->merge, horizon_ns)))
		take_record(e, header);
	counters_look(&e->counters, horizon_ns);
	switches_tick(&e->switches, horizon_ns);
	if (e->switches.on)
		perf_event_set_thin(&e->events, e->switches.stacks_hz, e->switches.switches_hz);
	if (e->exact)
		exact_release(e->exact, horizon_ns);
}

/* ---- waiting ---- */

static void poll_fds(struct engine *engine, pollfd_vec *fds)
{
	struct engine_perf *e = self(engine);

	for (size_t i = 0; i < e->events.cpus.count; i++)
		for (int s = 0; s < PERF_STREAM_COUNT; s++)
			if (e->events.cpus.data[i].anchor_fd[s] >= 0)
				vec_push(fds,
					(struct pollfd){.fd = e->events.cpus.data[i].anchor_fd[s],
						.events = POLLIN});
	if (e->exact)
		vec_push(fds, (struct pollfd){.fd = exact_fd(e->exact), .events = POLLIN});
}

/* How long to sleep while stacks are deep. */
static uint64_t deep_time_ns(const struct engine_perf *e, uint64_t now_ns)
{
	uint64_t due_ns = e->sampled_ns + (e->options->interval_ns << e->halvings) + POLL_DUE_NS;
	uint64_t most_ns = e->takes_turns ? POLL_DEEP_NS : POLL_LATE_NS;
	/* One that is late is waited for as long again: looks become fewer. */
	uint64_t wait_ns = due_ns > now_ns ? due_ns - now_ns : now_ns - due_ns;

	if (wait_ns < POLL_DUE_NS)
		return POLL_DUE_NS;
	return wait_ns < most_ns ? wait_ns : most_ns;
}

static uint64_t wait_ns(struct engine *engine)
{
	struct engine_perf *e = self(engine);
	uint64_t now_ns = clock_monotonic_ns();
	uint64_t reads = e->recording->snapshot.memory.read_count;

	if (reads != e->reads)
		e->deep_until_ns = now_ns + DEEP_NS;
	e->reads = reads;
	if (now_ns < e->deep_until_ns)
		return deep_time_ns(e, now_ns);
	if (!perf_event_set_has_switch_stacks(&e->events) && switches_are_waiting(&e->switches))
		return POLL_BLOCKED_NS;
	return POLL_NS;
}

/* ---- watching ---- */

/*
 * A task's clock starts with a whole interval, so of threads shorter than that it sees nothing, and
 * half a sample too little of all others.  Whether that is why many samples are missing.
 */
static bool lives_are_short(struct engine_perf *e)
{
	uint64_t explained = 2 * process_table_thread_total(e->recording->processes);

	/* Reading the clocks interrupts the target, so it is not done for the usual few threads. */
	if (explained < SHORT_LIVES_LEAST || e->halvings > 0)
		return false;
	uint64_t due = event_counts(e).cpu_ns / e->options->interval_ns;
	uint64_t found = e->recording->sampled_ns / e->options->interval_ns + lost_samples(e);

	if (found + SHORT_LIVES_LEAST > due || found > due - due / SHORT_LIVES_PART)
		return false;
	return due - found <= explained;
}

/*
 * Then the CPUs' clocks take over, or, where these are not allowed, a quicker one, of which even
 * short threads see some ticks.
 */
static void watch_short_lives(struct engine_perf *e)
{
	if (e->events.is_wide || e->is_quick || !lives_are_short(e))
		return;
	if (!e->widen_refused)
		e->widen_refused = !perf_event_set_widen(&e->events);
	if (e->exact && e->events.is_wide)
		exact_only_known(e->exact);
	if (e->widen_refused)
		e->is_quick = perf_event_set_quicken(&e->events, true);
	e->rate_changed |= e->is_quick;
}

/* The quick clock goes when threads are few again. */
static void watch_quick(struct engine_perf *e)
{
	uint64_t threads = process_table_thread_total(e->recording->processes);

	e->calm = threads - e->threads > QUICK_THREADS ? 0 : e->calm + 1;
	e->threads = threads;
	if (!e->is_quick || e->calm < QUICK_CALM)
		return;
	perf_event_set_quicken(&e->events, false);
	e->is_quick = false;
}

static void watch(struct engine *engine)
{
	struct engine_perf *e = self(engine);

	watch_short_lives(e);
	watch_quick(e);
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
}

static void stop(struct engine *engine)
{
	struct engine_perf *e = self(engine);

	perf_event_set_stop(&e->events);
	switches_end(&e->switches, clock_monotonic_ns());
}

static void counts(struct engine *engine, struct engine_counts *counts)
{
	struct engine_perf *e = self(engine);
	struct perf_event_counts counted = event_counts(e);

	*counts = (struct engine_counts){
		.cpu_ns = e->events.is_wide || e->attached.doubles ? UINT64_MAX : counted.cpu_ns,
		.left_out = e->attached.left_out,
		.lost = lost_samples(e),
		.lost_rests = e->exact ? exact_counts(e->exact).lost : 0,
		.stolen_ns = e->stolen_ns,
		.rate_changed = e->rate_changed,
		.kernel = e->events.grant.kernel,
	};
	/* Where a thread has the events twice, or others have them too, they count more. */
	bool is_whole = !e->attached.doubles && (!e->events.is_wide || e->everybody);

	counters_tell(&e->counters, &counted, is_whole, counts);
}

static bool has_ended(struct engine *engine)
{
	struct engine_perf *e = self(engine);

	return e->hung_up_ns != 0 && clock_monotonic_ns() > e->hung_up_ns + HANG_UP_NS;
}

static void close_engine(struct engine *engine)
{
	struct engine_perf *e = self(engine);

	ring_merge_deinit(&e->merge);
	switches_deinit(&e->switches);
	perf_event_set_close(&e->events);
	e->recording->snapshot.exact = NULL;
	exact_close(e->exact);
	free(e);
}

#define CALLS                                                                                      \
	.poll_fds = poll_fds, .drain = drain, .wait_ns = wait_ns, .watch = watch,                  \
	.slow_down = slow_down, .stop = stop, .counts = counts, .has_ended = has_ended,            \
	.close = close_engine

static const struct engine_ops ops = {.name = "snapshot", CALLS};

static const struct engine_ops exact_ops = {.name = "exact", CALLS};

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
		switches_init(&e->switches, e->recording, target->kind != TARGET_COMMAND);
	if (!err && target->kind != TARGET_COMMAND)
		perf_event_set_go_on(&e->events);
	return err;
}

/* ---- exact ---- */

/* The rest is as without it; err says why. */
static void do_without_exact(struct engine_perf *e, struct error *err)
{
	char line[320];

	snprintf(line, sizeof(line), "no exact stacks, sampling as with --engine snapshot: %s",
		err->message);
	if (e->options->say)
		e->options->say(line);
	error_destroy(err);
	exact_close(e->exact);
	e->exact = e->recording->snapshot.exact = NULL;
	e->engine.ops = &ops;
}

static void open_exact(struct engine_perf *e)
{
	struct exact_options options = {
		.dump_bytes = EXACT_DUMP_BYTES, .ring_bytes = EXACT_RESTS_BYTES};
	struct error *err = exact_open(&options, &e->exact);

	if (err) {
		do_without_exact(e, err);
		return;
	}
	e->recording->snapshot.exact = e->exact;
	e->engine.ops = &exact_ops;
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
	do_without_exact(e, err);
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
	struct error *err;

	e->engine = (struct engine){.ops = &ops, .has_real_clock = real};
	e->recording = setup->recording;
	e->options = setup->options;
	e->price = setup->price;
	e->everybody = setup->target->kind == TARGET_MACHINE;
	spec.counters = setup->options->counters;
	spec.counter_count = setup->options->counter_count;
	clock_choice_init(&e->choice);
	if (setup->options->engine == RECORDER_ENGINE_EXACT)
		open_exact(e);
	err = open_events(e, setup->target, &spec);
	if (!err) {
		merge_rings(e);
		counters_init(&e->counters, &e->events, e->recording);
		err = begin(e, setup->target);
	}
	if (err) {
		close_engine(&e->engine);
		return err;
	}
	*engine = &e->engine;
	return NULL;
}
