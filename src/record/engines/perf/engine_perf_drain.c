/*
 * What becomes of the records in the rings: samples are walked straight from them, and what the
 * trackers tell goes to the process table, so that it is at each sample what the system was.
 */
#include "base/clock.h"
#include "record/engines/perf/engine_perf_state.h"
#include "record/events/perf_record.h"
#include "record/processes/sideband.h"

/* Longer than the kernel takes to switch from one task to the next. */
#define SWITCH_NS 3000
/* With so much of the backlog in use, stacks at switches are not walked. */
#define STACKS_LEVEL 0.25
/* What the record of a switch costs the target. */
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

/* Stacks that were cut so far, as their memory was not to be had at the moment of the sample. */
static uint64_t cut_stacks(const struct engine_perf *e)
{
	const uint64_t *counters = e->recording->snapshot.counters;

	return counters[CAPTURE_TRUNCATED_MEMORY] + counters[CAPTURE_TRUNCATED_RACE];
}

void engine_perf_woke(void *context, struct snapshot_place place, const struct perf_sample *sample,
	uint64_t took_ns)
{
	struct engine_perf *e = context;
	const struct offcpu_thread *off = &place.thread->off;

	/* Its thread may have lost its CPU in the handler, and what followed be known already. */
	if (!place.thread->is_over && off->state == OFFCPU_RUNNING &&
		sample->time_ns >= off->since_ns)
		switches_take_clock(&e->switches, place, sample->time_ns);
	e->stolen_ns += e->price.sample_ns + took_ns;
}

/* A sample that is not walked: what was copied for it takes no room any more. */
static void pass_over(struct engine_perf *e, const struct perf_sample *sample)
{
	if (e->exact)
		exact_rest(e->exact, sample, &e->recording->snapshot.rest);
}

/* Whether we are behind, and others have to stand for the sample. */
static bool is_dropped(struct engine_perf *e, const struct perf_sample *sample)
{
	double level = backlog_level(&e->events.backlog);

	if (level == 0)
		return false;
	struct thread *thread = process_table_meet(
		e->recording->processes, sample->pid, sample->tid, sample->time_ns);

	return thinning_drops(&e->thinning, &thread->thinned, level, sample->period);
}

/* No sample follows that could weigh what was dropped. */
static void take_dropped(void *context, struct thread *thread)
{
	struct engine_perf *e = context;

	if (recording_take_dropped(e->recording, thread))
		e->thinning.dropped--;
}

static void take_dropped_at_end(void *context, struct thread *thread, uint64_t time_ns)
{
	(void)time_ns;
	take_dropped(context, thread);
}

void engine_perf_watch_threads(struct engine_perf *e)
{
	struct process_hooks hooks = {.ended = take_dropped_at_end, .context = e};

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
	/* While we are behind, blocks of time are estimated. */
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
	e->pace.reads += e->recording->snapshot.memory.read_count - reads;
}

/* Of whatever thread of the machine. */
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
 * Between the records of a task that leaves a CPU and of the one that follows it there, the kernel
 * switches.  It accounts that to the latter's CPU time, as clocks do; so the latter is back from
 * when the former left, or the time would count twice.
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
	/* Fresh events report the switches that those in the set report. */
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

/* Whether something comes first: the end, or the program that copies stacks whole. */
static bool is_time(const struct engine_perf *e)
{
	return (e->stop_ns != 0 && clock_monotonic_ns() >= e->stop_ns) ||
	       engine_perf_exact_is_due(e);
}

/* False: something comes first. */
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

void engine_perf_drain(struct engine_perf *e)
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
