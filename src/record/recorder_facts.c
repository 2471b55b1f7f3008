/*
 * What a capture file says of its recording as a whole.  Counters are written again and again, so
 * that a file whose recorder was killed has them too.
 */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "record/processes/proc_stat.h"
#include "record/recorder_state.h"
#include "record/zones/zones.h"

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

void recorder_write_facts(struct recorder *r)
{
	struct capture_writer *w = r->writer;
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
	capture_writer_number(w, CAPTURE_START_UNIX_NS, clock_unix_ns());
	capture_writer_number(w, CAPTURE_START_MONOTONIC_NS, r->recording.start_ns);
	capture_writer_number(w, CAPTURE_INTERVAL_NS, r->options.interval_ns);
	capture_writer_number(w, CAPTURE_CPU_COUNT, (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
}

void recorder_write_counters(struct recorder *r)
{
	uint64_t *counters = r->recording.snapshot.counters;
	struct unwind_counts walks = unwind_walker_counts(r->recording.snapshot.walker);
	struct engine_counts counts;

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
	counters[CAPTURE_BAD_JITDUMPS] = jit_table_bad_records(&r->recording.snapshot.jit);
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
		result->kept_is_short ? ", which is what there was memory for" : "");
	capture_writer_note(r->writer, CAPTURE_NOTE_INFO, 1, str_from(text));
}

/* Figures are of what is left; those of zones are not. */
static void note_pauses(struct recorder *r, const struct recorder_result *result)
{
	char text[160];

	snprintf(text, sizeof(text), "%.3f s of %.3f s were left out when recording%s",
		(double)result->off_ns / 1e9, (double)result->duration_ns / 1e9,
		result->zones.programs > 0 ? ", but not of the figures of zones" : "");
	capture_writer_note(r->writer, CAPTURE_NOTE_INFO, 1, str_from(text));
}

void recorder_write_end(struct recorder *r, const struct recorder_result *result)
{
	capture_writer_number(r->writer, CAPTURE_DURATION_NS, result->duration_ns);
	capture_writer_counter(r->writer, CAPTURE_UNSAMPLED_KERNEL_NS, result->kernel_cpu_ns);
	capture_writer_counter(r->writer, CAPTURE_UNREACHED_NS, result->unreached_cpu_ns);
	if (result->cpu_ns != UINT64_MAX)
		capture_writer_number(
			r->writer, CAPTURE_CPU_NS, result->cpu_ns - result->kernel_cpu_ns);
	if (result->expected != UINT64_MAX)
		capture_writer_number(r->writer, CAPTURE_EXPECTED, result->expected);
	if (result->off_ns > 0 && result->keep_ns > 0)
		note_keep(r, result);
	else if (result->off_ns > 0)
		note_pauses(r, result);
	if (!result->detached && r->options.kind == TARGET_COMMAND)
		capture_writer_number(
			r->writer, CAPTURE_EXIT_STATUS, (uint32_t)result->wait_status);
}
