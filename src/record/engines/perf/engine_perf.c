/*
 * The snapshot engine: at each sample perf events leave the registers and a copy of the top of the
 * stack in ring buffers.  Stacks are walked straight from the rings.  Reports of the tracking
 * events go to the process table, so that at each sample the table equals the system's state at
 * that time.
 *
 * The exact engine is the same with a BPF program attached to each sampling event (exact.h).  The
 * program copies the needed part of the stack, so the copy in the sample is small, and so are the
 * rings.  If allowed, and if the user did not choose an engine, the snapshot engine becomes the
 * exact one: the program is loaded in the background, so that no target waits for it, and is used
 * from the first stack that needs it.
 *
 * The kernel runs the program for the events that have it, and for those inherited from them later;
 * an existing thread would continue without it.  So all events are reopened, with the program and
 * smaller copies of the stack, on each living thread.  When all threads have them, the old ones
 * stop as these start, so that no time is sampled twice.  If threads are created too quickly, or
 * are too many, events on the CPUs replace them.
 *
 * Events hang up when their last task is gone, but also when the kernel takes them off a task that
 * a set-uid exec has made more powerful.  The target must continue undisturbed then, so its end is
 * never inferred from an event.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/map.h"
#include "record/engines/engine.h"
#include "record/engines/exact/exact.h"
#include "record/engines/exact/exact_loader.h"
#include "record/engines/perf/counters.h"
#include "record/engines/perf/keeper.h"
#include "record/engines/perf/perf_attach.h"
#include "record/engines/perf/perf_event.h"
#include "record/engines/perf/ring.h"
#include "record/engines/perf/tuning.h"
#include "record/engines/preload/preload_wake.h"
#include "record/events/perf_record.h"
#include "record/processes/process_table.h"
#include "record/samples/weights.h"
#include "record/switches/switches.h"
#include "record/switches/waking.h"

struct engine_perf {
	struct engine engine;
	struct recording *recording;
	const struct recorder_options *options;
	struct perf_event_set events;
	struct keeper *keeper;	   /* NULL: the recorder itself must drain the rings in time */
	struct preload_wake *wake; /* NULL: the library is not in the target */
	struct perf_tally tally;
	struct exact *exact;	     /* NULL: the events have no program */
	struct exact_loader *loader; /* NULL: none is loading */
	struct exact *ready;	     /* loaded, but not needed so far */
	int exact_poll_fd; /* an epoll on the loader's descriptor, later on the program's; -1:
			      none */
	bool is_joining;   /* threads may have fresh events in addition to those in the set */
	struct perf_attach_result attached;
	bool everybody; /* the target is the whole machine */
	struct ring_merge merge;
	struct clock_choice choice;
	struct budget_price price;
	uint64_t stolen_ns;
	uint32_t halvings;
	struct switches switches;
	struct waking_format waking; /* where options->wakers */
	struct wakers wakers;
	struct locks locks; /* where options->locks */
	struct counters counters;
	struct drain_pace pace;
	bool is_deep; /* by the pace, when the clock was chosen */
	struct thinning thinning;
	struct short_lives lives;
	uint64_t hung_up_ns; /* when the events were first seen hung up; 0: they have not */
	uint64_t stop_ns;    /* when to stop sampling; 0: no time set, or already stopped */
	uint64_t stopped_ns; /* when it stopped; 0: not yet */
	bool rate_changed;
};

static const struct engine_ops engine_perf_ops, engine_perf_exact_ops;

/*
 * Bytes of user stack in a sample if the program copies the rest.  Of the sizes tried, from 512
 * bytes to 16 KB, this one costs the target least.
 */
#define EXACT_DUMP_BYTES 4096u

/* ---- whether to use the program ---- */

/*
 * Whether a stack extended beyond the kernel's copy.  If none does, events inherited by threads are
 * better: the kernel swaps these as a whole at a switch, but fresh events of each thread one by
 * one, which costs a program that switches all the time a third of its samples.
 */
static bool is_needed(const struct snapshot *s)
{
	return s->memory.found_count > 0 || s->counters[CAPTURE_TRUNCATED_MEMORY] > 0;
}

static bool engine_perf_exact_is_due(const struct engine_perf *e)
{
	return (e->ready || (e->loader && exact_loader_is_done(e->loader))) &&
	       is_needed(&e->recording->snapshot) && !perf_event_set_is_stopped(&e->events);
}

/* ---- records ---- */

/* Longer than the kernel takes to switch from one task to the next. */
#define SWITCH_NS 3000
/* From this level of the backlog on, stacks at switches are not walked. */
#define STACKS_LEVEL 0.25
/* The cost of a switch record to the target. */
#define SWITCH_PRICE_NS 300

static void take_loss(struct engine_perf *e, const struct perf_event_header *header)
{
	struct perfstream_record record = perf_record_of(header);
	uint64_t count = perfstream_lost(&record);

	switch (perf_event_set_stream(&e->events, e->merge.current->ring)) {
	case PERF_STREAM_SAMPLES:
		e->tally.lost_records += count;
		break;
	case PERF_STREAM_TRACK:
		e->recording->lost_sideband += count;
		break;
	case PERF_STREAM_WAKINGS:
		e->recording->snapshot.counters[CAPTURE_LOST_WAKINGS] += count;
		break;
	case PERF_STREAM_SWITCHES:	/* each loss is detected separately */
	case PERF_STREAM_SWITCH_STACKS: /* blocks without one are estimated */
	case PERF_STREAM_COUNTERS:	/* the events count them */
	case PERF_STREAM_COUNT:
		break;
	}
}

/* Wide clocks sample all processes. */
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

/* Whether the process has ended, so that its context switches no longer matter. */
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

static void choose_clock(struct engine_perf *e)
{
	enum perf_clock_kind kind = e->choice.small ? PERF_CLOCK_SMALL : PERF_CLOCK_LARGE;

	if (e->is_deep && perf_event_set_has_eager(&e->events))
		kind = PERF_CLOCK_EAGER;
	perf_event_set_choose(&e->events, e->halvings, kind);
}

/* Learns from a sample's walk how much of the stack is worth copying. */
static void learn_reach(struct engine_perf *e)
{
	uint32_t small_bytes = perf_event_set_small_bytes(&e->events);

	if (small_bytes == 0)
		return;
	clock_choice_walked(&e->choice, e->recording->snapshot.reach_bytes > small_bytes);
	choose_clock(e);
}

/*
 * The number of stacks so far that are truncated or guessed because memory was missing at the
 * moment of the sample.
 */
static uint64_t cut_stacks(const struct engine_perf *e)
{
	const struct snapshot *snapshot = &e->recording->snapshot;

	return snapshot->counters[CAPTURE_TRUNCATED_MEMORY] +
	       snapshot->counters[CAPTURE_TRUNCATED_RACE] + snapshot->late_guesses;
}

static void engine_perf_woke(void *context, struct snapshot_place place,
	const struct perf_sample *sample, uint64_t took_ns)
{
	struct engine_perf *e = context;
	const struct offcpu_thread *off = &place.thread->off;

	/*
	 * Its thread may have lost its CPU in the handler, and later switches may already be known.
	 */
	if (!place.thread->is_over && off->state == OFFCPU_RUNNING &&
		sample->time_ns >= off->since_ns)
		switches_take_clock(&e->switches, place, sample->time_ns);
	e->stolen_ns += e->price.sample_ns + took_ns;
}

/* Skips a sample: releases the room of what was copied for it. */
static void pass_over(struct engine_perf *e, const struct perf_sample *sample)
{
	if (e->exact)
		exact_rest(e->exact, sample, &e->recording->snapshot.rest);
}

/* Whether the sample is dropped, and represented by others, because we are behind. */
static bool is_dropped(struct engine_perf *e, const struct perf_sample *sample)
{
	double level = backlog_level(&e->events.backlog);

	if (level == 0)
		return false;
	struct thread *thread = process_table_meet(
		e->recording->processes, sample->pid, sample->tid, sample->time_ns);

	/* There may be no later sample of a thread that has ended. */
	return !thread->is_over &&
	       thinning_drops(&e->thinning, &thread->thinned, level, sample->period);
}

/* Writes the weight of dropped samples, as no later sample can carry it. */
static void take_dropped(void *context, struct thread *thread)
{
	struct engine_perf *e = context;

	if (recording_take_dropped(e->recording, thread))
		e->thinning.dropped--;
}

static void thread_ended(void *context, struct thread *thread, uint64_t time_ns)
{
	struct engine_perf *e = context;

	(void)time_ns;
	take_dropped(e, thread);
	short_lives_ended(&e->lives, thread);
}

static void engine_perf_watch_threads(struct engine_perf *e)
{
	struct process_hooks hooks = {.ended = thread_ended, .context = e};

	process_table_hook(e->recording->processes, &hooks);
}

static void take_clock(struct engine_perf *e, const struct perf_sample *sample)
{
	uint64_t cut = cut_stacks(e);

	if (e->wake && preload_wake_replaces(e->wake, sample)) {
		clock_choice_walked(&e->choice, false);
		return;
	}
	if (is_dropped(e, sample)) {
		pass_over(e, sample);
		return;
	}
	struct snapshot_place place = recording_take_clock(e->recording, sample);

	learn_reach(e);
	if (e->wake && cut_stacks(e) > cut)
		preload_wake_cut(e->wake, sample->pid);
	if (!place.thread->is_over)
		switches_take_clock(&e->switches, place, sample->time_ns);
	drain_pace_sampled(&e->pace, sample->time_ns, sample->tid);
}

/*
 * Whether a stack is that of a preemption, if the record of the switch, which comes next, is
 * already available.
 */
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
	/* While we are behind, blocks are estimated. */
	if (is_over(e, sample->pid) || backlog_level(&e->events.backlog) >= STACKS_LEVEL) {
		pass_over(e, sample);
		return;
	}
	bool preempted = is_preemption(e, sample);
	uint64_t reads = e->recording->snapshot.memory.read_count;

	if (preempted && switches_take_preempted(&e->switches, sample)) {
		pass_over(e, sample);
		return;
	}
	switches_take_stack(&e->switches, sample);
	/* Its copy is smaller than the clock's. */
	if (preempted)
		e->pace.reads += e->recording->snapshot.memory.read_count - reads;
}

/* Bytes copied for the last sample in addition to its own copy. */
static uint64_t rest_bytes(const struct engine_perf *e)
{
	const struct stack_rest *rest = &e->recording->snapshot.rest;
	uint64_t bytes = 0;

	for (size_t i = 0; e->exact && i < rest->pieces.count; i++)
		bytes += rest->pieces.data[i].size_bytes;
	for (size_t i = 0; e->exact && i < rest->others.count; i++)
		bytes += rest->others.data[i].size_bytes;
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
	/*
	 * Only samples of the clock decide whether stacks are deep: these come from unusual places
	 * as well.
	 */
	e->pace.reads += e->recording->snapshot.memory.read_count - reads;
}

/* It may be of any thread of the machine. */
static void take_waking(struct engine_perf *e, const struct perf_event_header *header)
{
	struct waking waking;

	if (!waking_read(header, &e->waking, &waking))
		return;
	struct thread *thread = process_table_find_tid(e->recording->processes, waking.tid);

	if (thread && !thread->is_over && thread->off.state != OFFCPU_RUNNING)
		switches_wake(
			&e->switches, thread, waking.time_ns, wakers_name(&e->wakers, &waking));
}

static void take_sample(struct engine_perf *e, const struct perf_event_header *header)
{
	const struct perf_source *source =
		perf_event_set_find(&e->events, perf_record_event_id(header));
	enum perf_stream stream = perf_event_set_stream(&e->events, e->merge.current->ring);
	struct perf_sample sample;

	if (stream == PERF_STREAM_WAKINGS) {
		take_waking(e, header);
		return;
	}
	if (stream == PERF_STREAM_COUNTERS) {
		take_counter(e, header, source);
		return;
	}
	if (!perf_record_sample(header, e->events.grant.kernel, &sample))
		return;
	if (!is_ours(e, &sample)) {
		e->tally.passed_over++;
		pass_over(e, &sample);
		return;
	}
	take_price(e, &sample);
	if (is_double(e, source, sample.pid, sample.tid, sample.time_ns))
		pass_over(e, &sample);
	else if (stream == PERF_STREAM_SWITCH_STACKS)
		take_switch_stack(e, &sample);
	else
		take_clock(e, &sample);
}

/*
 * Between the record of a task that leaves a CPU and that of the next task there, the kernel
 * switches.  It accounts this time to the next task, as clocks do.  So the next task returns when
 * the previous one left; otherwise the time would count twice.
 */
static void join_switches(struct engine_perf *e, struct perf_switch *record)
{
	struct perf_event_cpu *cpu = perf_event_set_cpu(&e->events, e->merge.current->ring);

	if (record->out) {
		cpu->left_tid = record->tid;
		cpu->left_ns = record->time_ns;
	} else if (record->tid != cpu->left_tid && record->time_ns >= cpu->left_ns &&
		   record->time_ns - cpu->left_ns < SWITCH_NS) {
		record->time_ns = cpu->left_ns;
	}
}

static void take_switch(struct engine_perf *e, const struct perf_event_header *header)
{
	struct perf_switch record;

	perf_record_switch(header, &record);
	/* Fresh events report the same switches as those in the set. */
	if (e->is_joining && !perf_event_set_find(&e->events, record.event_id))
		return;
	join_switches(e, &record);
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

/* Whether something else has priority: the end, or the program that copies whole stacks. */
static bool is_time(const struct engine_perf *e)
{
	return (e->stop_ns != 0 && clock_monotonic_ns() >= e->stop_ns) ||
	       engine_perf_exact_is_due(e);
}

/* False: something else has priority. */
static bool take_records(struct engine_perf *e, uint64_t horizon_ns)
{
	while (!is_time(e)) {
		const struct perf_event_header *header = ring_merge_next(&e->merge, horizon_ns);

		if (!header)
			return true;
		if (e->wake)
			preload_wake_take_until(e->wake, e->merge.current->time_ns);
		take_record(e, header);
	}
	return false;
}

static void engine_perf_drain(struct engine_perf *e)
{
	uint64_t horizon_ns = e->stopped_ns ? e->stopped_ns : clock_monotonic_ns();

	if (e->wake)
		preload_wake_collect(e->wake);
	ring_merge_look(&e->merge);
	if (!take_records(e, horizon_ns))
		return;
	if (e->wake)
		preload_wake_take_until(e->wake, UINT64_MAX);
	counters_look(&e->counters, horizon_ns);
	switches_tick(&e->switches, horizon_ns);
	if (e->stopped_ns) {
		switches_end(&e->switches, horizon_ns);
		process_table_each_thread(e->recording->processes, take_dropped, e);
	}
	if (e->switches.on)
		perf_event_set_thin(&e->events, e->switches.stacks_hz, e->switches.switches_hz);
	if (e->exact)
		exact_release(e->exact, horizon_ns);
}

/* ---- the program ---- */

#define RESTS_BYTES ((size_t)16 << 20)
/* The time between a new thread's inheriting events and the report of its fork. */
#define FORK_NS (SECOND_NS / 1000)
/*
 * Descriptors for the program and for loading it.  If the limit is lower, the recorder needs them
 * itself.
 */
#define FILES_MIN 256
/* With at least this many events, events on the CPUs open faster. */
#define EVENTS_MAX 2048
/* How often new threads may appear while events are being opened. */
#define ROUNDS_MAX 8

static const struct exact_options exact_options = {
	.dump_bytes = EXACT_DUMP_BYTES, .ring_bytes = RESTS_BYTES};

static void poll_for(struct engine_perf *e, int fd)
{
	struct epoll_event event = {.events = EPOLLIN};

	if (e->exact_poll_fd < 0)
		e->exact_poll_fd = epoll_create1(EPOLL_CLOEXEC);
	(void)epoll_ctl(e->exact_poll_fd, EPOLL_CTL_ADD, fd, &event);
}

static void use(struct engine_perf *e, struct exact *exact)
{
	e->exact = e->recording->snapshot.exact = exact;
	e->engine.ops = &engine_perf_exact_ops;
	poll_for(e, exact_fd(exact));
}

static void drop(struct engine_perf *e)
{
	exact_close(e->exact);
	e->exact = e->recording->snapshot.exact = NULL;
	e->engine.ops = &engine_perf_ops;
}

/* ---- loading first ---- */

/* Continues without the program.  err is the reason; frees it. */
static void engine_perf_exact_give_up(struct engine_perf *e, struct error *err)
{
	char line[320];

	snprintf(line, sizeof(line), "no exact stacks, sampling as with --engine snapshot: %s",
		err->message);
	if (e->options->say)
		e->options->say(line);
	error_destroy(err);
	drop(e);
}

static void engine_perf_exact_open(struct engine_perf *e)
{
	struct exact *exact;
	struct error *err = exact_open(&exact_options, &exact);

	if (err)
		engine_perf_exact_give_up(e, err);
	else
		use(e, exact);
}

/* ---- loading in the background ---- */

static bool has_files(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur >= FILES_MIN;
}

static void engine_perf_exact_begin(struct engine_perf *e)
{
	if (exact_lacks() || !has_files())
		return;
	e->loader = exact_loader_start(&exact_options);
	if (e->loader)
		poll_for(e, exact_loader_fd(e->loader));
}

static void know_process(void *context, struct thread *thread)
{
	exact_know(context, thread->pid);
}

static void engine_perf_exact_widened(struct engine_perf *e)
{
	if (!e->exact || e->everybody)
		return;
	process_table_each_thread(e->recording->processes, know_process, e->exact);
	exact_only_known(e->exact);
}

/* ---- switching to the program ---- */

struct join {
	struct engine_perf *e;
	struct perf_event_set fresh;
	struct map tids;   /* of threads that have fresh events, or are gone */
	uint64_t begin_ns; /* no thread had fresh events before */
	uint64_t end_ns;   /* all threads that lived then have them */
	int code;
	bool is_mixed; /* a thread may have inherited only some */
};

static bool is_added(const struct join *j, const struct thread *thread)
{
	uint32_t ignored;

	return map_get(&j->tids, (uint64_t)thread->tid, 0, &ignored);
}

static void add_thread(void *context, struct thread *thread)
{
	struct join *j = context;

	if (j->code || thread->start_ns >= j->begin_ns || is_added(j, thread))
		return;
	if (j->fresh.events.count >= EVENTS_MAX)
		j->code = EMFILE;
	else
		j->code = perf_event_set_add(&j->fresh, (pid_t)thread->tid);
	if (j->code == ESRCH)
		j->code = 0;
	map_put(&j->tids, (uint64_t)thread->tid, 0, 0);
}

static void look_for_mixed(void *context, struct thread *thread)
{
	struct join *j = context;

	j->is_mixed |= thread->start_ns >= j->begin_ns && thread->start_ns <= j->end_ns;
}

/* Waits until all forks up to now have been reported. */
static void await_forks(struct engine_perf *e)
{
	const struct timespec pause = {.tv_nsec = (long)FORK_NS};

	nanosleep(&pause, NULL);
	engine_perf_drain(e);
}

/* The creator of a thread that is found late may have created others as well. */
static void add_threads(struct join *j)
{
	size_t before;

	j->begin_ns = clock_monotonic_ns();
	do {
		before = j->tids.count;
		j->is_mixed = false;
		process_table_each_thread(j->e->recording->processes, add_thread, j);
		j->end_ns = clock_monotonic_ns() + FORK_NS;
		await_forks(j->e);
		process_table_each_thread(j->e->recording->processes, look_for_mixed, j);
	} while (j->tids.count > before && !j->is_mixed && !j->code);
}

/* Opens events on all threads; later threads inherit all of them. */
static bool open_on_threads(struct join *j)
{
	bool all_have_them;

	perf_event_set_renew(&j->e->events, j->e->exact, EXACT_DUMP_BYTES, &j->fresh);
	add_threads(j);
	all_have_them = !j->code && !j->is_mixed && j->e->recording->lost_sideband == 0;
	map_deinit(&j->tids);
	if (!all_have_them)
		perf_event_set_cancel(&j->fresh);
	return all_have_them;
}

static bool open_on_cpus(struct join *j)
{
	perf_event_set_renew(&j->e->events, j->e->exact, EXACT_DUMP_BYTES, &j->fresh);
	j->code = perf_event_set_add(&j->fresh, -1);
	if (j->code)
		perf_event_set_cancel(&j->fresh);
	return j->code == 0;
}

static bool open_fresh(struct join *j)
{
	bool is_open = false;

	for (int i = 0; i < ROUNDS_MAX && !is_open && !j->code && !j->e->events.is_wide; i++)
		is_open = open_on_threads(j);
	return is_open || open_on_cpus(j);
}

static void join(struct engine_perf *e)
{
	struct join j = {.e = e};
	bool is_open;

	e->is_joining = true;
	is_open = open_fresh(&j);
	e->is_joining = false;
	if (!is_open) {
		drop(e);
		return;
	}
	if (j.fresh.is_wide)
		engine_perf_exact_widened(e);
	if (e->keeper)
		keeper_serve(e->keeper, e->exact);
	perf_event_set_replace(&e->events, &j.fresh);
	engine_perf_drain(e);
	perf_event_set_drop_old(&e->events);
	if (!e->events.is_wide)
		short_lives_forgive(&e->lives, &e->events, &e->tally, e->options->interval_ns);
}

/*
 * A refusal is not reported here, because the user did not ask for the program; `sonde doctor`
 * reports it.
 */
static void take_loaded(struct engine_perf *e)
{
	struct error *err = NULL;

	if (!e->loader || !exact_loader_take(e->loader, &e->ready, &err))
		return;
	exact_loader_leave(e->loader);
	e->loader = NULL;
	error_destroy(err);
}

static void engine_perf_exact_look(struct engine_perf *e)
{
	take_loaded(e);
	if (!e->ready || !engine_perf_exact_is_due(e))
		return;
	use(e, e->ready);
	e->ready = NULL;
	join(e);
}

static void engine_perf_exact_close(struct engine_perf *e)
{
	exact_loader_leave(e->loader);
	exact_close(e->ready);
	e->recording->snapshot.exact = NULL;
	exact_close(e->exact);
	if (e->exact_poll_fd >= 0)
		close(e->exact_poll_fd);
}

/* ---- the engine ---- */

/* With the exact engine. */
#define EXACT_RING_BYTES ((size_t)4 << 20)
/*
 * A patient recorder copies so much that it reaches the root of nearly all stacks: at a low rate
 * the price does not matter.  At a higher one its rings are larger, and then the copies smaller.
 */
#define PATIENT_STACK_BYTES    32768u
#define PATIENT_RING_BYTES     ((size_t)256 << 10)
#define PATIENT_RING_BYTES_MAX ((size_t)4 << 20)
/* If events hung up this long before the target was seen alive, that was not because of its end. */
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

/*
 * Whether we, and not only the keeper, poll the rings of that stream.  While both wait for samples,
 * it does not matter who is woken.
 */
static bool is_polled(const struct engine_perf *e, enum perf_stream stream)
{
	return !e->keeper || stream == PERF_STREAM_TRACK ||
	       (stream == PERF_STREAM_SAMPLES && perf_event_set_has_eager(&e->events));
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

/* While stacks are deep, an eager clock runs, and only we wait for samples. */
static void watch_depth(struct engine_perf *e, uint64_t now_ns)
{
	uint64_t reads = e->recording->snapshot.memory.read_count;
	bool is_deep = drain_pace_is_deep(&e->pace, now_ns, reads);

	if (is_deep != e->is_deep) {
		e->is_deep = is_deep;
		choose_clock(e);
	}
	if (e->keeper)
		keeper_leave_samples(e->keeper, perf_event_set_is_eager(&e->events));
}

static uint64_t wait_ns(struct engine *engine)
{
	struct engine_perf *e = self(engine);
	uint64_t now_ns = clock_monotonic_ns();

	if (e->options->patience_ns > 0)
		return e->options->patience_ns;
	/*
	 * Waiting threads are inspected from outside: their stacks, and the holders of their locks.
	 */
	bool is_looking = e->options->locks || !perf_event_set_has_switch_stacks(&e->events);
	bool is_waiting = is_looking && switches_are_waiting(&e->switches);

	uint64_t most_ns = preload_wake_wait_ns(e->wake);

	watch_depth(e, now_ns);
	uint64_t wait_ns =
		drain_pace_wait_ns(&e->pace, now_ns, e->options->interval_ns << e->halvings,
			perf_event_set_is_eager(&e->events), is_waiting);

	return wait_ns < most_ns ? wait_ns : most_ns;
}

/* ---- upkeep ---- */

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
	choose_clock(e);
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
		.ring_bytes = perf_event_set_ring_bytes(&e->events),
	};
	/*
	 * If a thread has the events twice, or other processes have them too, their counts are too
	 * high.
	 */
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

static const struct engine_ops engine_perf_ops = {.name = "snapshot", CALLS};

static const struct engine_ops engine_perf_exact_ops = {.name = "exact", CALLS};

static void merge_rings(struct engine_perf *e)
{
	for (size_t i = 0; i < e->events.cpus.count; i++) {
		struct perf_event_cpu *cpu = &e->events.cpus.data[i];

		/*
		 * Among records with the same time, tracking records come first, to keep the table
		 * up to date.
		 */
		ring_merge_add(&e->merge, &cpu->ring[PERF_STREAM_TRACK]);
		ring_merge_add(&e->merge, &cpu->ring[PERF_STREAM_SAMPLES]);
		/* A stack belongs to the next switch. */
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

/* Opens the events and their rings; those on attached processes follow. */
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

/* Does what a running target needs in addition; sampling of a launched one begins with its exec. */
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

/* Opens the events, with the program if the kernel allows it. */
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

/* Whether a quick clock is the only remedy for short threads. */
static bool may_hurry(const struct engine_setup *setup)
{
	return setup->target->kind == TARGET_COMMAND &&
	       perf_attr_try(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, false, true) != 0;
}

static size_t patient_ring_bytes(uint64_t interval_ns)
{
	uint64_t records = PERF_PATIENT_TIME_NS / interval_ns;
	size_t bytes = PATIENT_RING_BYTES;

	while (bytes < PATIENT_RING_BYTES_MAX && bytes < records * PATIENT_STACK_BYTES)
		bytes *= 2;
	return bytes;
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
		.is_patient = setup->options->patience_ns > 0,
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
	/* The program copies what would have to be read. */
	spec.eager = !e->exact && !e->loader && !spec.is_patient;
	if (spec.is_patient) {
		spec.ring_bytes_most = patient_ring_bytes(spec.interval_ns);
		spec.stack_bytes_most = PATIENT_STACK_BYTES;
	}
	if (!err)
		err = open_events(e, setup->target, &spec);
	if (!err) {
		merge_rings(e);
		counters_init(&e->counters, &e->events, e->recording);
		engine_perf_watch_threads(e);
		e->keeper = spec.is_patient ? NULL : keeper_create(&e->events);
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
