/*
 * The recorder: has an engine take samples of the target until that ends, and writes them
 * continuously.  Counters are written repeatedly, so that the file also has them if the recorder is
 * killed.
 *
 * The flight recorder, `sonde record --keep TIME`, keeps only the last part of a recording.  It is
 * written at the end, or earlier to a separate file when requested (a dump).  Until then, samples
 * are queued in memory (recording.h); this file decides for how long.  The recorder's figures count
 * from its start, so it stores them several dozen times per kept period.  The kept part begins at
 * one of these moments, and its losses and CPU time are the difference.
 *
 * A child process writes a dump by ending the recording there, while the recorder continues.  So
 * the recorder does not wait for files or names, and a dump equals the recording if it ended now.
 * The child has one thread, and does not call the engine.
 */
#include "record/recorder.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/vec.h"
#include "record/budget.h"
#include "record/control.h"
#include "record/cpu_account.h"
#include "record/engines/engine.h"
#include "record/processes/proc.h"
#include "record/recording.h"
#include "record/stacks/stack_tree.h"
#include "record/target.h"
#include "record/zones/zones.h"

#define PROGRESS_NS (SECOND_NS / 10)
/* The first reports come sooner, as a run may be short; the interval doubles up to PROGRESS_NS. */
#define PROGRESS_FIRST_NS (PROGRESS_NS / 32)
#define LOOK_NS		  (SECOND_NS / 50)

/* The number of moments in the kept time, at least half a second apart. */
#define MOMENTS	    32
#define STEP_NS_MIN (SECOND_NS / 2)
/* Reading the figures of one takes a tenth of that. */
#define MOMENT_LASTS_NS	 (SECOND_NS / 500)
#define MOMENT_TRIES_MAX 5
/* If all ticks of a program are slow, dumps must not fill the disk. */
#define SLOW_DUMPS_MAX 100

/* The figures at a moment. */
struct flight_moment {
	uint64_t time_ns;
	struct recorder_result result;
};

struct flight {
	uint64_t keep_ns; /* 0: everything is kept, and the flight recorder is not used */
	uint64_t next_ns; /* when to note the next moment */
	VEC(struct flight_moment) moments; /* the kept part begins with the first */
	bool is_short;			   /* memory did not suffice for the kept time */
	bool is_asked;			   /* a dump was requested */
	uint32_t dumps;
	VEC(pid_t) children; /* writing dumps */
	uint64_t slow_ticks; /* number at the last dump for slow ticks */
	uint64_t slow_dump_ns;
};

/* Maximum size of the queue's contents; it takes up to twice as much memory. */
#define FLIGHT_BYTES_MAX ((size_t)128 << 20)

struct recorder {
	struct recorder_options options;
	struct launch_state launch_state;
	struct control control;
	struct command_pipe commands;
	bool commanded_stop;
	struct capture_writer *writer;
	struct target target;
	struct recording recording;
	struct engine *engine;
	pollfd_vec polled;		 /* the signals, then the engine's */
	uint64_t progress_ns, target_ns; /* when to do these next */
	uint64_t progress_step_ns;
	uint64_t alive_ns; /* the target was still running then */
	uint64_t end_ns;   /* when sampling stopped */
	struct budget budget;
	struct account_watch account_watch;
	uint32_t rate_changes;
	struct flight flight;
	uint64_t open_ns;  /* when sampling began */
	uint64_t until_ns; /* the last *options.until_ns */
	uint64_t ring_bytes;
	bool stopped;			  /* the file cannot be written, so no more samples are
					     taken */
	const uint8_t *fates;		  /* by node, the writer's; NULL: all are kept */
	struct stack_addresses addresses; /* once requested */
	struct stack_pairs pairs;	  /* likewise */
};

/* ---- the result ---- */

static uint64_t timeval_ns(struct timeval t)
{
	return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_usec * 1000;
}

static struct budget_use use_by(const struct recorder *r, const struct engine_counts *counts)
{
	struct rusage own;

	getrusage(RUSAGE_SELF, &own);
	return (struct budget_use){
		.time_ns = clock_monotonic_ns(),
		.own_cpu_ns = timeval_ns(own.ru_utime) + timeval_ns(own.ru_stime),
		.stolen_ns = counts->stolen_ns,
		.target_cpu_ns = r->recording.sampled_ns,
	};
}

static struct budget_use recorder_use(const struct recorder *r)
{
	struct engine_counts counts;

	r->engine->ops->counts(r->engine, &counts);
	return use_by(r, &counts);
}

static double overhead(const struct budget_use *use, uint64_t cpu_ns)
{
	if (cpu_ns == 0 || cpu_ns == UINT64_MAX)
		return 0;
	return (double)(use->own_cpu_ns + use->stolen_ns) / (double)cpu_ns;
}

/* Whether the kernel has ended the sampling of a target that is still running. */
static bool sampling_has_ended(const struct recorder *r)
{
	const struct target *t = &r->target;
	const char *name;
	bool any_lives = t->kind != TARGET_PROCESSES;

	for (size_t i = 0; i < t->processes.count; i++)
		any_lives |= t->processes.data[i].fd >= 0;
	return any_lives && process_table_denied(r->recording.processes, &name) > 0 &&
	       r->engine->ops->has_ended(r->engine, r->alive_ns);
}

/* Processes left of a target that has ended.  After sampling has stopped, ends are not reported. */
static size_t children_left(const struct recorder *r)
{
	if (!r->target.ended || r->stopped || r->target.kind == TARGET_MACHINE)
		return 0;
	return process_table_living(r->recording.processes);
}

static void fill_end(const struct recorder *r, struct recorder_result *result)
{
	bool detached = r->target.command && !r->target.ended;
	const char *name;
	uint64_t first_ns;

	result->wait_status = r->target.wait_status;
	result->is_attached = r->target.kind == TARGET_PROCESSES;
	result->detached = detached;
	result->detach_signal = detached ? r->control.detach_signal : 0;
	result->duration_ns =
		r->end_ns > r->recording.start_ns ? r->end_ns - r->recording.start_ns : 0;
	if (r->open_ns > r->recording.start_ns)
		result->late_ns = r->options.from_ns ? r->open_ns - r->recording.start_ns : 0;
	result->off_ns = result->duration_ns - pauses_on_ns(&r->recording.pauses,
						       r->recording.start_ns, r->end_ns, &first_ns);
	result->stopped = r->stopped;
	result->children_left = children_left(r);
	result->sampling_ended = sampling_has_ended(r);
	result->denied = process_table_denied(r->recording.processes, &name);
	snprintf(result->denied_name, sizeof(result->denied_name), "%s", name);
}

static void fill_time(const struct recorder *r, const struct engine_counts *counts,
	struct recorder_result *result)
{
	struct cpu_account account = cpu_account(&r->recording, &r->target, counts, r->stopped);
	struct budget_use use = use_by(r, counts);

	result->cpu_ns = account.cpu_ns;
	result->kernel_cpu_ns = account.kernel_ns;
	result->lost_cpu_ns = account.lost_ns;
	result->unreached_cpu_ns = account.unreached_ns;
	result->expected = account.expected;
	result->overhead = overhead(&use, account.cpu_ns);
}

static void fill_samples(const struct recorder *r, const struct engine_counts *counts,
	struct recorder_result *result)
{
	const struct recording *recording = &r->recording;

	result->interval_ns = r->options.interval_ns;
	result->samples = recording->samples;
	result->sampled_ns = recording->sampled_ns;
	result->walked = recording->snapshot.walks;
	result->thinned = counts->thinned;
	result->truncated = snapshot_truncated(&recording->snapshot);
	result->threads = process_table_thread_total(recording->processes);
	result->halvings = r->budget.halvings;
	result->lowest_rate = r->budget.halvings == r->budget.halvings_most;
	result->rate_changes = r->rate_changes;
	result->rate_changed = counts->rate_changed;
	result->is_machine = r->target.kind == TARGET_MACHINE;
	result->kernel_frames = counts->kernel;
	result->by_use = counts->by_use;
	result->left_out = counts->left_out;
	memcpy(result->counters, recording->snapshot.counters, sizeof(result->counters));
}

static uint64_t recorder_events(
	const struct recorder *r, const struct engine_counts *counts, size_t counter)
{
	uint64_t events = counts->counters[counter].events, off = r->recording.counter_off[counter];

	if (events == UINT64_MAX)
		return events;
	return events > off ? events - off : 0;
}

/* The events other than time. */
static void fill_counted(const struct recorder *r, const struct engine_counts *counts,
	struct recorder_result *result)
{
	result->counted_count = r->options.counter_count;
	for (size_t i = 0; i < r->options.counter_count; i++)
		result->counted[i] = (struct recorder_counted){
			.name = r->options.counters[i].name,
			.events = recorder_events(r, counts, i),
			.weight = r->recording.counter_weight[i],
			.samples = r->recording.counter_samples[i],
			.lost = counts->counters[i].lost,
		};
}

static void recorder_sum_up(const struct recorder *r, struct recorder_result *result)
{
	struct engine_counts counts;

	r->engine->ops->counts(r->engine, &counts);
	*result = (struct recorder_result){.engine = r->engine->ops->name};
	fill_time(r, &counts, result);
	fill_end(r, result);
	fill_samples(r, &counts, result);
	fill_counted(r, &counts, result);
	if (r->recording.zones)
		result->zones = zones_result(r->recording.zones);
}

/* ---- facts about the whole recording ---- */

static void add_command(struct strbuf *out, char *const *command)
{
	for (size_t i = 0; command[i]; i++) {
		strbuf_add(out, str_from(command[i]));
		strbuf_add_char(out, '\0');
	}
}

/* The command lines of the attached processes, with a "+" between them. */
static void add_processes(struct strbuf *out, const struct target *t)
{
	for (size_t i = 0; i < t->pid_count; i++) {
		if (i > 0)
			strbuf_add(out, (struct str){"+", 2});
		proc_command_line(t->pids[i], out);
	}
}

static void write_command(struct recorder *r)
{
	struct strbuf command = {0};

	switch (r->options.kind) {
	case TARGET_COMMAND:
		add_command(&command, r->options.command);
		break;
	case TARGET_PROCESSES:
		add_processes(&command, &r->target);
		break;
	case TARGET_MACHINE:
		strbuf_add(&command, STR("[whole machine]"));
		break;
	}
	capture_writer_string(r->writer, CAPTURE_COMMAND, strbuf_str(&command));
	strbuf_deinit(&command);
}

static const char *const clock_names[] = {
	[RECORDER_CLOCK_BOTH] = "both",
	[RECORDER_CLOCK_VIRTUAL] = "virtual",
	[RECORDER_CLOCK_REAL] = "real",
};

static void recorder_write_facts(struct recorder *r)
{
	struct capture_writer *w = r->writer;
	uint64_t now_ns = clock_monotonic_ns();
	struct utsname host;

	write_command(r);
	if (uname(&host) == 0) {
		capture_writer_string(w, CAPTURE_HOST, str_from(host.nodename));
		capture_writer_string(w, CAPTURE_KERNEL, str_from(host.release));
	}
	capture_writer_string(w, CAPTURE_ENGINE, str_from(r->engine->ops->name));
	capture_writer_string(w, CAPTURE_CLOCK,
		str_from(r->engine->has_real_clock ? clock_names[r->options.clock] : "virtual"));
	capture_writer_string(w, CAPTURE_VERSION, STR(SONDE_VERSION));
	if (r->options.when.size > 0)
		capture_writer_string(w, CAPTURE_WHEN, r->options.when);
	/* It may have begun a moment ago, or be about to. */
	capture_writer_number(w, CAPTURE_START_UNIX_NS,
		r->options.from_ns ? clock_unix_ns() + r->options.from_ns - now_ns
				   : clock_unix_ns());
	capture_writer_number(w, CAPTURE_START_MONOTONIC_NS, r->recording.start_ns);
	capture_writer_number(w, CAPTURE_INTERVAL_NS, r->options.interval_ns);
	capture_writer_number(w, CAPTURE_CPU_COUNT, (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
}

static void recorder_write_counters(struct recorder *r)
{
	uint64_t *counters = r->recording.snapshot.counters;
	struct unwind_counts walks = unwind_walker_counts(r->recording.snapshot.walker);
	struct engine_counts counts;
	struct generated_counts generated;
	const char *denied;

	generated_names_finish(&r->recording.snapshot.names);
	generated = generated_names_counts(&r->recording.snapshot.names);

	r->engine->ops->counts(r->engine, &counts);
	counters[CAPTURE_LOST_RING] = counts.lost;
	counters[CAPTURE_THINNED] = counts.thinned;
	counters[CAPTURE_LOST_RESTS] = counts.lost_rests;
	counters[CAPTURE_LOST_THROTTLED] = r->recording.throttled;
	counters[CAPTURE_LOST_SIDEBAND] = r->recording.lost_sideband;
	counters[CAPTURE_BROKEN_RECORDS] = counts.broken_records;
	counters[CAPTURE_REFUSED_THREADS] = counts.refused_threads;
	counters[CAPTURE_SEALED_THREADS] = counts.sealed_threads;
	memcpy(&counters[CAPTURE_STRAY_NS], counts.stray_ns, sizeof(counts.stray_ns));
	counters[CAPTURE_LEFT_OUT_THREADS] = counts.left_out;
	counters[CAPTURE_DENIED_PROGRAMS] = process_table_denied(r->recording.processes, &denied);
	counters[CAPTURE_DENIED_ALIVE] = process_table_denied_alive(r->recording.processes);
	counters[CAPTURE_BAD_JITDUMPS] = jit_table_bad_records(&r->recording.snapshot.jit);
	counters[CAPTURE_BAD_MAP_LINES] = generated.bad_lines;
	counters[CAPTURE_OLD_MAPS] = generated.old_maps;
	counters[CAPTURE_OTHER_MAPS] = generated.other_maps;
	counters[CAPTURE_CUT_MAPS] = generated.cut_maps;
	counters[CAPTURE_UNSURE_NAMES] = generated.unsure;
	counters[CAPTURE_REUSE_CHECKED] = walks.reuse_checks;
	counters[CAPTURE_REUSE_WRONG] = walks.reuse_mismatches;
	if (r->recording.zones)
		zones_count(r->recording.zones, counters);
	for (uint32_t i = 0; i < CAPTURE_COUNTER_COUNT; i++)
		capture_writer_counter(r->writer, (enum capture_counter)i, counters[i]);
	for (uint32_t i = 0; i < r->options.counter_count; i++)
		capture_writer_metric_counts(r->writer, r->recording.metrics.counters + i,
			counts.counters[i].lost, recorder_events(r, &counts, i));
}

static void note_keep(struct recorder *r, const struct recorder_result *result)
{
	char text[160];

	snprintf(text, sizeof(text), "of %.3f s the last %.3f s were kept%s",
		(double)result->duration_ns / 1e9,
		(double)(result->duration_ns - result->off_ns) / 1e9,
		result->kept_is_short ? ", limited by memory" : "");
	capture_writer_note(r->writer, CAPTURE_NOTE_INFO, 1, str_from(text));
}

/* The figures are for the recorded part, except those of zones. */
static void note_pauses(struct recorder *r, const struct recorder_result *result)
{
	char text[160];

	snprintf(text, sizeof(text), "%.3f s of %.3f s were left out when recording%s",
		(double)result->off_ns / 1e9, (double)result->duration_ns / 1e9,
		result->zones.programs > 0 ? ", but not of the figures of zones" : "");
	capture_writer_note(r->writer, CAPTURE_NOTE_INFO, 1, str_from(text));
}

static void note_late(struct recorder *r, const struct recorder_result *result)
{
	char text[160];

	snprintf(text, sizeof(text),
		"the first %.3f s were not sampled: the recorder was not ready in time",
		(double)result->late_ns / 1e9);
	capture_writer_note(r->writer, CAPTURE_NOTE_INFO, 1, str_from(text));
}

static void recorder_write_end(struct recorder *r, const struct recorder_result *result)
{
	capture_writer_number(r->writer, CAPTURE_DURATION_NS, result->duration_ns);
	capture_writer_counter(r->writer, CAPTURE_UNSAMPLED_KERNEL_NS, result->kernel_cpu_ns);
	capture_writer_counter(r->writer, CAPTURE_UNREACHED_NS, result->unreached_cpu_ns);
	if (result->cpu_ns != UINT64_MAX)
		capture_writer_number(
			r->writer, CAPTURE_CPU_NS, result->cpu_ns - result->kernel_cpu_ns);
	if (result->expected != UINT64_MAX)
		capture_writer_number(r->writer, CAPTURE_EXPECTED, result->expected);
	if (result->late_ns > 0)
		note_late(r, result);
	if (result->off_ns > 0 && result->keep_ns > 0)
		note_keep(r, result);
	else if (result->off_ns > 0)
		note_pauses(r, result);
	if (!result->detached && r->options.kind == TARGET_COMMAND)
		capture_writer_number(
			r->writer, CAPTURE_EXIT_STATUS, (uint32_t)result->wait_status);
}

/* ---- samples ---- */

static void follow_until(struct recorder *r)
{
	uint64_t until_ns =
		r->options.until_ns ? __atomic_load_n(r->options.until_ns, __ATOMIC_RELAXED) : 0;

	if (until_ns == r->until_ns || until_ns <= r->recording.start_ns)
		return;
	r->until_ns = until_ns;
	pauses_set(&r->recording.pauses, until_ns, true);
	if (r->engine && r->engine->ops->stop_at)
		r->engine->ops->stop_at(r->engine, until_ns);
}

static void recorder_drain(struct recorder *r)
{
	if (r->stopped)
		return;
	/* First, so that no sample from later on gets through. */
	follow_until(r);
	if (r->recording.zones)
		zones_expect_samples(r->recording.zones);
	r->engine->ops->drain(r->engine);
	if (r->recording.zones)
		zones_look(r->recording.zones, &r->target);
	capture_writer_flush(r->writer, clock_monotonic_ns());
	if (capture_writer_failed(r->writer)) {
		r->engine->ops->stop(r->engine);
		r->stopped = true;
	}
}

/* ---- the flight recorder: moments ---- */

/*
 * Reads the clock and the figures together: samples after a moment are kept, and the CPU time after
 * it must be theirs.  On a busy machine the recorder may lose the CPU between the two; then it
 * reads both again.
 */
static void note_moment(struct recorder *r)
{
	struct flight_moment m;

	for (int tries = 0; tries < MOMENT_TRIES_MAX; tries++) {
		r->end_ns = m.time_ns = clock_monotonic_ns();
		recorder_sum_up(r, &m.result);
		if (clock_monotonic_ns() - m.time_ns < MOMENT_LASTS_NS)
			break;
	}
	vec_push(&r->flight.moments, m);
}

static uint64_t step_ns(const struct flight *f)
{
	uint64_t step = f->keep_ns / MOMENTS;

	return step > STEP_NS_MIN ? step : STEP_NS_MIN;
}

static void drop_moment(struct flight *f)
{
	f->moments.count--;
	memmove(f->moments.data, f->moments.data + 1, f->moments.count * sizeof(*f->moments.data));
}

/* Forgets what is too old or exceeds the memory limit. */
static void forget(struct recorder *r, uint64_t now_ns)
{
	struct flight *f = &r->flight;

	while (f->moments.count > 1 && f->moments.data[1].time_ns + f->keep_ns <= now_ns)
		drop_moment(f);
	recording_forget(&r->recording, f->moments.data[0].time_ns);
	while (recent_size(&r->recording.recent) > FLIGHT_BYTES_MAX) {
		if (f->moments.count == 1)
			note_moment(r);
		drop_moment(f);
		f->is_short = true;
		recording_forget(&r->recording, f->moments.data[0].time_ns);
	}
}

static void flight_begin(struct recorder *r)
{
	r->flight.keep_ns = r->options.keep_ns;
	if (r->flight.keep_ns == 0)
		return;
	r->recording.keeps = true;
	r->recording.slow_ns = r->options.tick_over_ns;
	r->recording.slow_stream = r->options.tick_stream;
	vec_push(&r->flight.moments, (struct flight_moment){.time_ns = r->recording.start_ns});
}

/* ---- the flight recorder: figures of the kept part ---- */

/* Counters related to samples.  The others are for the whole target, and are not changed. */
static const enum capture_counter counters_of_samples[] = {CAPTURE_LOST_RING,
	CAPTURE_LOST_THROTTLED, CAPTURE_TRUNCATED_MEMORY, CAPTURE_TRUNCATED_RACE,
	CAPTURE_TRUNCATED_RULE, CAPTURE_TRUNCATED_CORRUPT, CAPTURE_TRUNCATED_DEPTH,
	CAPTURE_TRUNCATED_32BIT, CAPTURE_NO_USER_STACK, CAPTURE_ESTIMATED_BLOCKS,
	CAPTURE_ESTIMATED_NS, CAPTURE_LOST_SWITCHES, CAPTURE_LOST_WAKINGS, CAPTURE_LOST_RESTS,
	CAPTURE_LOST_TICKS, CAPTURE_CUT_TICKS, CAPTURE_UNKNOWN_ZONES, CAPTURE_GUESSED_STACKS,
	CAPTURE_THINNED};

static void subtract(uint64_t *from, uint64_t value)
{
	*from -= value < *from ? value : *from;
}

/* UINT64_MAX: unknown. */
static void subtract_known(uint64_t *from, uint64_t value)
{
	if (*from != UINT64_MAX && value != UINT64_MAX)
		subtract(from, value);
}

static void since_events(struct recorder *r, struct recorder_result *now)
{
	const struct recording *recording = &r->recording;

	for (size_t i = 0; i < now->counted_count; i++) {
		struct recorder_counted *c = &now->counted[i];
		const struct recorder_counted *base = &r->flight.moments.data[0].result.counted[i];

		subtract_known(&c->events, base->events);
		subtract(&c->lost, base->lost);
		c->samples = recording->counter_samples[i];
		c->weight = recording->counter_weight[i];
		capture_writer_metric_counts(
			r->writer, recording->metrics.counters + (uint32_t)i, c->lost, c->events);
	}
}

static void since(struct recorder *r, struct recorder_result *now)
{
	const struct recorder_result *base = &r->flight.moments.data[0].result;
	uint64_t first_ns;

	for (size_t i = 0; i < ARRAY_SIZE(counters_of_samples); i++) {
		enum capture_counter counter = counters_of_samples[i];

		subtract(&now->counters[counter], base->counters[counter]);
		capture_writer_counter(r->writer, counter, now->counters[counter]);
	}
	/* In addition to the samples taken: those that are missing. */
	subtract_known(&now->expected, now->samples);
	if (base->expected != UINT64_MAX)
		subtract_known(&now->expected,
			base->expected > base->samples ? base->expected - base->samples : 0);
	now->samples = r->recording.samples;
	now->sampled_ns = r->recording.sampled_ns;
	if (now->expected != UINT64_MAX)
		now->expected += now->samples;
	subtract_known(&now->cpu_ns, base->cpu_ns);
	subtract(&now->kernel_cpu_ns, base->kernel_cpu_ns);
	subtract(&now->lost_cpu_ns, base->lost_cpu_ns);
	subtract(&now->unreached_cpu_ns, base->unreached_cpu_ns);
	subtract(&now->thinned, base->thinned);
	subtract(&now->walked, base->walked);
	subtract(&now->truncated, base->truncated);
	subtract(&now->zones.ticks, base->zones.ticks);
	subtract(&now->zones.lost_ticks, base->zones.lost_ticks);
	subtract(&now->zones.unknown, base->zones.unknown);
	now->off_ns = now->duration_ns - pauses_on_ns(&r->recording.pauses, r->recording.start_ns,
						 r->end_ns, &first_ns);
	since_events(r, now);
}

/*
 * The CPU time of moments and of the whole recording excludes pauses, and so does the difference.
 */
static void flight_end(struct recorder *r, struct recorder_result *result)
{
	uint64_t from_ns;

	if (r->flight.keep_ns == 0)
		return;
	from_ns = r->flight.moments.data[0].time_ns;
	result->keep_ns = r->flight.keep_ns;
	result->kept_is_short = r->flight.is_short;
	recording_write_recent(&r->recording, from_ns);
	if (from_ns > r->recording.start_ns)
		pauses_leave_out(&r->recording.pauses, r->recording.start_ns, from_ns);
	since(r, result);
}

static void flight_keep_nodes(struct recorder *r)
{
	const struct recording *recording = &r->recording;
	const struct stack_tree *tree = &recording->snapshot.tree;

	if (recording->wanted == NULL)
		return;
	uint8_t *fates = stack_tree_fates(tree, recording->wanted, recording->wanted_count);

	if (capture_writer_keep_nodes(r->writer, fates, tree->nodes.count))
		r->fates = fates;
	else
		free(fates);
}

/* ---- the end of the file ---- */

/*
 * Completes the file except for names: writes queued data, time without samples, and the final
 * facts.  result comes from recorder_sum_up, and is changed to that of the kept part.
 */
static void recorder_settle(struct recorder *r, struct recorder_result *result)
{
	flight_end(r, result);
	recording_take_unsampled(
		&r->recording, STR("[kernel, not permitted]"), result->kernel_cpu_ns);
	recording_take_unsampled(&r->recording, STR("[lost]"), result->lost_cpu_ns);
	recorder_write_end(r, result);
	flight_keep_nodes(r);
}

/* ---- the flight recorder: dumps ---- */

/* "app.prof" becomes "app.1.prof", or the next unused number.  The caller frees it. */
static char *dump_path(struct recorder *r)
{
	struct str output = str_from(r->options.output);
	struct str end = str_ends_with(output, STR(".prof")) ? STR(".prof") : STR("");
	char *path;

	do {
		path = xasprintf("%.*s.%u%.*s", (int)(output.size - end.size), output.data,
			++r->flight.dumps, STR_ARG(end));
		if (access(path, F_OK) != 0 && errno == ENOENT)
			return path;
		free(path);
	} while (r->flight.dumps < UINT32_MAX);
	return NULL;
}

static void say(const struct recorder *r, const char *line)
{
	if (r->options.say)
		r->options.say(line);
}

/*
 * Runs in the child.  Signals that end the recorder stay blocked here, as they are for the
 * recorder.
 */
static void make_dump(struct recorder *r, const char *path, struct recorder_result *result)
{
	struct error *err;

	(void)setpriority(PRIO_PROCESS, 0, 10);
	err = capture_writer_divert(r->writer, path);
	if (err) {
		say(r, err->message);
		_exit(1);
	}
	recorder_settle(r, result);
	r->options.dump(r->options.dump_context, r, result, path);
	_exit(0);
}

static void dump(struct recorder *r)
{
	struct recorder_result result;

	if (strcmp(r->options.output, "-") == 0 || r->stopped) {
		say(r, "dump: the recording does not go to a file, so a dump has no name");
		return;
	}
	char *path = dump_path(r);
	if (path == NULL)
		return;
	recorder_drain(r);
	r->end_ns = clock_monotonic_ns();
	recorder_write_counters(r);
	recorder_sum_up(r, &result);
	result.detached = false; /* the recording continues */
	result.is_dump = true;
	capture_writer_write(r->writer);
	pid_t pid = fork();
	if (pid == 0)
		make_dump(r, path, &result);
	if (pid > 0)
		vec_push(&r->flight.children, pid);
	else
		say(r, "dump: no process can be made for it");
	free(path);
}

/* All slow ticks within the time that a dump covers share one dump. */
static bool slow_tick_is_due(struct recorder *r, uint64_t now_ns)
{
	struct flight *f = &r->flight;

	if (r->recording.slow_ticks == f->slow_ticks)
		return false;
	if (f->slow_dump_ns && now_ns - f->slow_dump_ns < f->keep_ns)
		return false;
	f->slow_ticks = r->recording.slow_ticks;
	f->slow_dump_ns = now_ns;
	return f->dumps < SLOW_DUMPS_MAX;
}

static void reap(struct flight *f, int flags)
{
	size_t kept = 0;

	for (size_t i = 0; i < f->children.count; i++) {
		pid_t done;

		do
			done = waitpid(f->children.data[i], NULL, flags);
		while (done < 0 && errno == EINTR);
		if (done == 0)
			f->children.data[kept++] = f->children.data[i];
	}
	f->children.count = kept;
}

static void flight_look(struct recorder *r, uint64_t now_ns)
{
	struct flight *f = &r->flight;

	if (f->keep_ns == 0)
		return;
	if (now_ns >= f->next_ns) {
		f->next_ns = now_ns + step_ns(f);
		note_moment(r);
	}
	forget(r, now_ns);
	reap(f, WNOHANG);
	if (f->is_asked || slow_tick_is_due(r, now_ns))
		dump(r);
	f->is_asked = false;
}

static void flight_deinit(struct flight *f)
{
	reap(f, 0);
	vec_deinit(&f->children);
	vec_deinit(&f->moments);
}

/* ---- the recorder ---- */

struct error *recorder_create(const struct recorder_options *options, struct recorder **recorder)
{
	struct recorder *r = xalloc(sizeof(*r));
	struct error *err;

	r->options = *options;
	r->progress_step_ns = PROGRESS_FIRST_NS;
	if (options->clock == RECORDER_CLOCK_DEFAULT)
		r->options.clock =
			options->kind == TARGET_MACHINE && !options->wakers && !options->locks
				? RECORDER_CLOCK_VIRTUAL
				: RECORDER_CLOCK_BOTH;
	launch_state_save(&r->launch_state);
	r->target = (struct target){.kind = options->kind,
		.command = options->command,
		.state = &r->launch_state,
		.pids = options->pids,
		.pid_count = options->pid_count};
	err = control_init(&r->control, options->keep_ns > 0);
	r->control.is_alone = !options->command;
	if (!err && options->control)
		err = command_pipe_open(&r->commands, options->control);
	if (!err)
		err = capture_writer_create(options->output, &r->writer);
	if (err) {
		command_pipe_close(&r->commands);
		control_deinit(&r->control);
		launch_state_restore(&r->launch_state);
		free(r);
		return err;
	}
	*recorder = r;
	return NULL;
}

static void recorder_destroy(struct recorder *r)
{
	stack_addresses_deinit(&r->addresses);
	stack_pairs_deinit(&r->pairs);
	if (r->engine)
		r->engine->ops->close(r->engine);
	flight_deinit(&r->flight);
	zones_destroy(r->recording.zones);
	recording_end(&r->recording);
	target_deinit(&r->target);
	vec_deinit(&r->polled);
	command_pipe_close(&r->commands);
	control_deinit(&r->control);
	launch_state_restore(&r->launch_state);
	free(r);
}

void recorder_abandon(struct recorder *r)
{
	capture_writer_abandon(r->writer);
	recorder_destroy(r);
}

/* ---- the loop ---- */

static void poll_set(struct recorder *r)
{
	vec_push(&r->polled, (struct pollfd){.fd = r->control.fd, .events = POLLIN});
	if (r->recording.zones && zones_fd(r->recording.zones) >= 0)
		vec_push(&r->polled,
			(struct pollfd){.fd = zones_fd(r->recording.zones), .events = POLLIN});
	if (r->commands.path)
		vec_push(&r->polled, (struct pollfd){.fd = r->commands.fd, .events = POLLIN});
	r->engine->ops->poll_fds(r->engine, &r->polled);
}

/* Stops polling descriptors that hung up, which would wake the recorder for ever. */
static void drop_hung_up(struct recorder *r)
{
	size_t kept = 1;

	for (size_t i = 1; i < r->polled.count; i++)
		if (!(r->polled.data[i].revents & (POLLHUP | POLLERR)))
			r->polled.data[kept++] = r->polled.data[i];
	r->polled.count = kept;
}

/* When the recording must end; UINT64_MAX: no time limit. */
static uint64_t end_time_ns(const struct recorder *r)
{
	if (r->until_ns > 0)
		return r->until_ns;
	return r->options.duration_ns > 0
		       ? r->recording.start_ns + r->options.delay_ns + r->options.duration_ns
		       : UINT64_MAX;
}

static uint64_t time_to_wait_ns(const struct recorder *r)
{
	uint64_t wait_ns = r->engine->ops->wait_ns(r->engine);
	uint64_t now_ns = clock_monotonic_ns(), end_ns = end_time_ns(r);

	if (now_ns >= end_ns)
		return 0;
	return wait_ns < end_ns - now_ns ? wait_ns : end_ns - now_ns;
}

/* True: a signal has come. */
static bool wait_for_work(struct recorder *r)
{
	recorder_drain(r);
	uint64_t wait_ns = time_to_wait_ns(r);
	struct timespec timeout = {.tv_nsec = (long)wait_ns};

	if (ppoll(r->polled.data, r->stopped ? 1 : r->polled.count, &timeout, NULL) <= 0)
		return false;
	bool is_signal = r->polled.data[0].revents != 0;

	drop_hung_up(r);
	return is_signal;
}

static void tell_progress(struct recorder *r, uint64_t now_ns)
{
	struct recorder_progress progress = {
		.samples = r->recording.samples,
		.lost = r->recording.snapshot.counters[CAPTURE_LOST_RING],
		.elapsed_ns = now_ns > r->recording.start_ns ? now_ns - r->recording.start_ns : 0,
		.ring_bytes = r->ring_bytes,
	};

	if (r->options.progress)
		r->options.progress(r->options.progress_context, &progress);
}

static void watch_budget(struct recorder *r)
{
	if (r->options.overhead_most <= 0)
		return;
	struct budget_use use = recorder_use(r);

	if (!budget_look(&r->budget, &use))
		return;
	r->rate_changes++;
	r->engine->ops->slow_down(r->engine, r->budget.halvings);
}

/* Makes the weights of samples follow the system's account. */
static void watch_account(struct recorder *r)
{
	struct engine_counts counts;

	if (r->stopped)
		return;
	r->engine->ops->counts(r->engine, &counts);
	account_watch_look(&r->account_watch, &r->recording, &r->target, &counts);
}

/*
 * The clocks have stopped and the system's accounts are final, but samples may remain in the rings.
 */
static void close_accounts(struct recorder *r)
{
	struct engine_counts counts;

	target_close_accounts(&r->target);
	if (r->stopped)
		return;
	r->engine->ops->counts(r->engine, &counts);
	account_watch_end(&r->recording, &r->target, &counts);
}

/* Work that is not needed at every iteration of the loop. */
static void look_around(struct recorder *r)
{
	uint64_t now_ns = clock_monotonic_ns();

	if (now_ns < r->progress_ns)
		return;
	r->progress_ns = now_ns + r->progress_step_ns;
	if (r->progress_step_ns == PROGRESS_NS && r->options.patience_ns > PROGRESS_NS)
		r->progress_ns = now_ns + r->options.patience_ns;
	if (!r->stopped)
		r->engine->ops->watch(r->engine);
	watch_budget(r);
	watch_account(r);
	flight_look(r, now_ns);
	recorder_write_counters(r);
	if (r->progress_step_ns == PROGRESS_NS)
		tell_progress(r, now_ns);
	else
		r->progress_step_ns *= 2;
}

static void say_unknown(const struct recorder *r)
{
	char *line = xasprintf(
		"--control: unknown command '%.200s': expected enable, disable, dump, stop",
		strbuf_str(&r->commands.unknown).data);

	if (r->options.say)
		r->options.say(line);
	free(line);
}

static void ask_for_dump(struct recorder *r)
{
	if (r->options.keep_ns == 0 && r->options.say)
		r->options.say("--control: dump is for recordings with --keep");
	r->flight.is_asked = true;
	r->progress_ns = 0; /* report now */
}

static void obey(struct recorder *r)
{
	struct pauses *pauses = &r->recording.pauses;
	enum pipe_command command;

	while ((command = command_pipe_next(&r->commands)) != PIPE_NOTHING) {
		if (command == PIPE_UNKNOWN)
			say_unknown(r);
		else if (command == PIPE_STOP)
			r->commanded_stop = true;
		else if (command == PIPE_DUMP)
			ask_for_dump(r);
		else
			pauses_set(pauses, clock_monotonic_ns(), command == PIPE_DISABLE);
	}
}

static bool is_over(const struct recorder *r)
{
	return r->target.ended || r->control.detach_signal != 0 || r->commanded_stop ||
	       clock_monotonic_ns() >= end_time_ns(r);
}

/*
 * A command's end comes with a signal.  Other targets, and ends that may have been missed, must be
 * polled.
 */
static void look_for_end(struct recorder *r, bool is_signal)
{
	uint64_t now_ns = clock_monotonic_ns();

	if (!is_signal && now_ns < r->target_ns)
		return;
	r->target_ns = now_ns + LOOK_NS;
	target_look(&r->target);
	if (!r->target.ended)
		r->alive_ns = now_ns;
}

static void record_to_the_end(struct recorder *r)
{
	while (!is_over(r)) {
		bool is_signal = wait_for_work(r);

		if (is_signal)
			control_read(&r->control);
		if (r->control.wants_dump)
			ask_for_dump(r);
		r->control.wants_dump = false;
		obey(r);
		look_for_end(r, is_signal);
		look_around(r);
	}
	/* Stop first, so that the counts match the samples taken. */
	r->engine->ops->stop(r->engine);
	r->end_ns = clock_monotonic_ns();
	/* What was sampled later is left out. */
	if (r->end_ns > end_time_ns(r))
		r->end_ns = end_time_ns(r);
	close_accounts(r);
	recorder_drain(r);
}

/* ---- start and end ---- */

static void init_weights(struct recorder *r)
{
	struct engine_counts counts;

	r->engine->ops->counts(r->engine, &counts);
	r->ring_bytes = counts.ring_bytes;
	weights_init(&r->recording.weights, r->options.interval_ns, counts.by_use);
	r->recording.is_machine = r->options.kind == TARGET_MACHINE;
}

/*
 * Samples before from_ns, and those on their way out when sampling stops, are another's, or of no
 * recording.
 */
static void bound_samples(struct recorder *r)
{
	struct pauses *pauses = &r->recording.pauses;

	if (r->options.delay_ns > 0) {
		pauses_set(pauses, r->recording.start_ns, true);
		pauses_set(pauses, r->recording.start_ns + r->options.delay_ns, false);
	}
	if (r->options.duration_ns > 0)
		pauses->end_ns = end_time_ns(r);

	if (r->options.from_ns > 0) {
		pauses_set(pauses, 0, true);
		pauses_set(pauses, r->options.from_ns, false);
	}
	follow_until(r);
}

static struct error *start(struct recorder *r)
{
	struct engine_setup setup = {&r->options, &r->recording, &r->target, {0}, NULL};
	struct error *err;

	if (r->options.zones == RECORDER_ZONES_FUNCTIONS) {
		err = zones_check_functions();
		if (err)
			return err;
	}
	launch_raise_ourselves();
	budget_init(&r->budget, r->options.overhead_most, ENGINE_HALVINGS);
	if (r->options.overhead_most > 0)
		(void)budget_measure_price(&setup.price);
	recording_begin(&r->recording, r->writer,
		r->options.from_ns ? r->options.from_ns : clock_monotonic_ns());
	r->recording.services = r->options.services;
	flight_begin(r);
	bound_samples(r);
	if (r->options.kind != TARGET_COMMAND)
		process_table_read_groups(r->recording.processes, &r->recording.labels);
	r->recording.zones = zones_create(&r->recording, r->options.zones);
	if (r->recording.zones) {
		r->target.variable = zones_variable(r->recording.zones);
		r->target.preload = zones_preload(r->recording.zones);
	}
	err = engine_open(&setup, &r->engine);
	if (err)
		return err;
	init_weights(r);
	recording_measure(&r->recording, r->engine->has_real_clock, r->options.wakers,
		r->options.counters, r->options.counter_count);
	poll_set(r);
	if (end_time_ns(r) != UINT64_MAX && r->engine->ops->stop_at)
		r->engine->ops->stop_at(r->engine, end_time_ns(r));
	err = target_release(&r->target);
	r->open_ns = clock_monotonic_ns();
	if (!err)
		recorder_write_facts(r);
	return err;
}

struct error *recorder_run(struct recorder *r, struct recorder_result *result)
{
	struct error *err = start(r);

	if (err)
		return err;
	record_to_the_end(r);
	/* Stop again: the exec of a short program may have been in the last drain. */
	r->engine->ops->stop(r->engine);
	if (r->recording.zones)
		zones_end(r->recording.zones);
	recorder_write_counters(r);
	recorder_sum_up(r, result);
	recorder_settle(r, result);
	/* The largest tables; names take memory next. */
	object_table_free_rules(r->recording.objects);
	return NULL;
}

/* ---- sampled addresses ---- */

size_t recorder_object_count(const struct recorder *r)
{
	return object_table_count(r->recording.objects);
}

void recorder_object(struct recorder *r, uint32_t object, struct recorder_object *out)
{
	struct object_info info = object_table_info(r->recording.objects, object);

	if (!r->addresses.start)
		stack_tree_addresses(&r->recording.snapshot.tree, r->fates,
			object_table_count(r->recording.objects), &r->addresses);
	size_t begin = r->addresses.start[object];

	*out = (struct recorder_object){
		.path = info.path,
		.open_path = info.open_path,
		.build_id = info.build_id,
		.kind = info.kind,
		.is_replaced = info.build_id.size == 0 &&
			       object_table_is_replaced(r->recording.objects, object),
		.pid = info.pid,
		.begin_ns = info.begin_ns,
		.addresses = r->addresses.addresses + begin,
		.address_count = r->addresses.start[object + 1] - begin,
	};
}

const struct tail_pair *recorder_pairs(struct recorder *r, uint32_t object, size_t *count)
{
	if (!r->pairs.start)
		stack_tree_pairs(&r->recording.snapshot.tree, r->fates,
			object_table_count(r->recording.objects), &r->pairs);
	size_t begin = r->pairs.start[object];

	*count = r->pairs.start[object + 1] - begin;
	return r->pairs.pairs + begin;
}

bool recorder_generated_name(
	const struct recorder *r, uint32_t object, uint64_t va, struct str *name)
{
	return generated_names_find(&r->recording.snapshot.names, object, va, name);
}

struct capture_writer *recorder_writer(struct recorder *r)
{
	return r->writer;
}

struct error *recorder_finish(struct recorder *r, uint64_t *size_bytes)
{
	struct error *err = capture_writer_finish(r->writer, size_bytes);

	recorder_destroy(r);
	return err;
}
