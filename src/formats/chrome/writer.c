/*
 * The trace event format of chrome://tracing and Perfetto: what happened when.  docs/formats/
 * chrome.md says what exactly is written.
 *
 * Source: "Trace Event Format" (Chromium project), the JSON object form; duration, complete,
 * counter, instant and metadata events, and its dictionary of stack frames.
 *
 * Everything is written in one pass over each table, event by event.  What is kept meanwhile is a
 * number per function and per stack.
 */
#include "formats/chrome/writer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/escape.h"
#include "formats/common/zone_walk.h"

/* Ticks are on tracks of their own, with numbers that no thread has. */
#define TICK_TRACK (INT64_C(1) << 30)

struct strbuf *chrome_begin(struct chrome_writer *w)
{
	struct strbuf *out = &w->sink->text;

	strbuf_add(out, w->has_event ? STR(",\n") : STR("\n"));
	w->has_event = true;
	return out;
}

void chrome_end(struct chrome_writer *w)
{
	strbuf_add_char(&w->sink->text, '}');
	(void)sink_settle(w->sink);
}

void chrome_string(struct strbuf *out, struct str s)
{
	strbuf_add_char(out, '"');
	escape_json(out, s);
	strbuf_add_char(out, '"');
}

/* Microseconds, to the nanosecond. */
void chrome_us(struct strbuf *out, uint64_t time_ns)
{
	strbuf_printf(out, "%" PRIu64 ".%03" PRIu64, time_ns / 1000, time_ns % 1000);
}

void chrome_task(struct strbuf *out, int64_t pid, int64_t tid)
{
	strbuf_printf(out, ", \"pid\": %" PRId64 ", \"tid\": %" PRId64, pid, tid);
}

void chrome_thread(struct chrome_writer *w, uint32_t thread)
{
	const struct thread *t = &w->profile->threads[thread];

	chrome_task(&w->sink->text, w->profile->processes[t->process.i].pid, t->tid);
}

struct str chrome_stack_name(const struct profile *p, uint32_t stack)
{
	const struct frame *frame = &p->frames[p->stacks[stack].frame.i];
	struct str name = profile_string(p, p->functions[frame->function.i].name);

	return name.size ? name : STR("[unknown]");
}

/* ---- Names of tracks */

static void write_name(
	struct chrome_writer *w, const char *kind, int64_t pid, int64_t tid, struct str name)
{
	struct strbuf *out = chrome_begin(w);

	strbuf_printf(out, "{\"ph\": \"M\", \"name\": \"%s\"", kind);
	chrome_task(out, pid, tid);
	strbuf_add(out, STR(", \"args\": {\"name\": "));
	chrome_string(out, name);
	strbuf_add_char(out, '}');
	chrome_end(w);
}

static void write_names(struct chrome_writer *w)
{
	const struct profile *p = w->profile;

	for (size_t i = 0; i < p->process_count; i++)
		write_name(w, "process_name", p->processes[i].pid, 0,
			profile_string(p, p->processes[i].name));
	for (size_t i = 0; i < p->thread_count; i++)
		write_name(w, "thread_name", p->processes[p->threads[i].process.i].pid,
			p->threads[i].tid, profile_string(p, p->threads[i].name));
}

/* ---- Ticks */

static void write_tick_track(struct chrome_writer *w, const struct tick *tick, int64_t track)
{
	int64_t pid = w->profile->processes[tick->process.i].pid;
	struct strbuf name = {0}, *out;

	strbuf_add(&name, STR("ticks: "));
	strbuf_add(&name, profile_string(w->profile, tick->stream));
	write_name(w, "thread_name", pid, track, strbuf_str(&name));
	strbuf_deinit(&name);
	out = chrome_begin(w);
	strbuf_add(out, STR("{\"ph\": \"M\", \"name\": \"thread_sort_index\""));
	chrome_task(out, pid, track);
	strbuf_printf(out, ", \"args\": {\"sort_index\": %" PRId64 "}", track - TICK_TRACK - 1000);
	chrome_end(w);
}

static void write_tick(struct chrome_writer *w, const struct tick *tick, int64_t track)
{
	struct strbuf *out = chrome_begin(w), name = {0};

	strbuf_add(&name, profile_string(w->profile, tick->stream));
	strbuf_printf(&name, " %" PRIu64, tick->number);
	strbuf_add(out, STR("{\"ph\": \"X\", \"cat\": \"tick\", \"name\": "));
	chrome_string(out, strbuf_str(&name));
	strbuf_deinit(&name);
	chrome_task(out, w->profile->processes[tick->process.i].pid, track);
	strbuf_add(out, STR(", \"ts\": "));
	chrome_us(out, tick->start_ns);
	strbuf_add(out, STR(", \"dur\": "));
	chrome_us(out, tick->end_ns - tick->start_ns);
	chrome_end(w);
}

/* Each stream of each process is a track. */
static void write_ticks(struct chrome_writer *w)
{
	const struct profile *p = w->profile;
	int64_t track = TICK_TRACK;

	for (size_t i = 0; i < p->tick_count; i++) {
		const struct tick *t = &p->ticks[i], *before = i ? t - 1 : NULL;

		if (before == NULL || before->process.i != t->process.i ||
			before->stream.i != t->stream.i)
			write_tick_track(w, t, ++track);
		write_tick(w, t, track);
	}
}

/* ---- Samples */

static void write_sample(struct chrome_writer *w, size_t sample)
{
	const struct profile *p = w->profile;
	const struct samples *s = &p->samples;
	uint32_t stack = s->stack[sample].i;
	struct strbuf *out = chrome_begin(w);

	strbuf_add(out, STR("{\"ph\": \"i\", \"s\": \"t\", \"cat\": \"sample\", \"name\": "));
	chrome_string(out, stack ? chrome_stack_name(p, stack) : STR("[unknown]"));
	if (s->thread)
		chrome_thread(w, s->thread[sample].i);
	else
		chrome_task(out, 0, 0);
	strbuf_add(out, STR(", \"ts\": "));
	chrome_us(out, s->time_ns[sample]);
	if (stack)
		strbuf_printf(out, ", \"sf\": %" PRIu32, stack);
	strbuf_add(out, STR(", \"args\": {"));
	chrome_string(out, profile_string(p, p->metrics[w->metric.i].name));
	strbuf_printf(out, ": %" PRId64 "}", s->weight[w->metric.i][sample]);
	chrome_end(w);
	w->is_sampled[stack] = true;
}

static void write_samples(struct chrome_writer *w)
{
	const struct samples *s = &w->profile->samples;

	if (s->time_ns == NULL || is_of_zones(w->profile, w->metric))
		return;
	for (size_t i = 0; i < s->count; i++)
		if (s->weight[w->metric.i][i] != 0)
			write_sample(w, i);
}

/* The stacks that samples refer to: each names its caller. */
static void write_stack_frames(struct chrome_writer *w)
{
	const struct profile *p = w->profile;
	struct strbuf *out = &w->sink->text;
	bool is_first = true;

	for (size_t i = p->stack_count; i-- > 1;)
		if (w->is_sampled[i])
			w->is_sampled[p->stacks[i].parent.i] = true;
	for (uint32_t i = 1; i < p->stack_count && sink_settle(w->sink); i++) {
		const struct frame *frame = &p->frames[p->stacks[i].frame.i];
		uint32_t parent = p->stacks[i].parent.i;

		if (!w->is_sampled[i])
			continue;
		strbuf_printf(out, "%s\"%" PRIu32 "\": {\"name\": ", is_first ? "\n" : ",\n", i);
		chrome_string(out, chrome_stack_name(p, i));
		strbuf_add(out, STR(", \"category\": "));
		chrome_string(out, profile_module(p, p->functions[frame->function.i].object));
		if (parent)
			strbuf_printf(out, ", \"parent\": \"%" PRIu32 "\"", parent);
		strbuf_add_char(out, '}');
		is_first = false;
	}
}

/* Notes and what was run, for who reads the file. */
static void write_other(struct chrome_writer *w)
{
	const struct profile *p = w->profile;
	struct strbuf *out = &w->sink->text;

	strbuf_add(out, STR("\"otherData\": {\"command\": "));
	chrome_string(out, profile_string(p, p->command));
	strbuf_add(out, STR(", \"host\": "));
	chrome_string(out, profile_string(p, p->host));
	strbuf_printf(out, ", \"start_unix_ns\": \"%" PRIu64 "\", \"metric\": ", p->start_unix_ns);
	chrome_string(out, profile_string(p, p->metrics[w->metric.i].name));
	strbuf_add(out, STR(", \"unit\": "));
	chrome_string(out, profile_string(p, p->metrics[w->metric.i].unit));
	for (size_t i = 0; i < p->note_count; i++) {
		const struct note *note = &p->notes[i];

		strbuf_printf(out, ", \"note %zu\": ", i + 1);
		strbuf_add_char(out, '"');
		if (note_shows_count(note))
			strbuf_printf(out, "%" PRIu64 " ", note->count);
		escape_json(out, profile_string(p, note->text));
		strbuf_add_char(out, '"');
	}
	strbuf_add(out, STR("}}\n"));
}

static struct error *check_times(const struct profile *p)
{
	if (p->samples.time_ns || p->tick_count || p->zone_events.count)
		return NULL;
	return error_new(
		ERROR_UNSUPPORTED, "a trace tells when things happened, and this does not");
}

static struct error *chrome_write(
	struct sink *sink, const struct profile *profile, const struct writer_options *options)
{
	struct chrome_writer w = {.profile = profile,
		.sink = sink,
		.metric = options->metric,
		.zone_time = {NO_ID},
		.thread_has_zones = xcalloc(profile->thread_count, sizeof(bool)),
		.is_sampled = xcalloc(profile->stack_count, sizeof(bool))};
	struct error *err = check_times(profile);

	if (err == NULL) {
		(void)profile_find_metric(profile, STR(ZONE_TIME), &w.zone_time);
		chrome_sort_ticks(&w);
		strbuf_add(&sink->text, STR("{\"displayTimeUnit\": \"ns\", \"traceEvents\": ["));
		write_names(&w);
		write_ticks(&w);
		chrome_write_zones(&w);
		chrome_write_counters(&w);
		write_samples(&w);
		strbuf_add(&sink->text, STR("\n],\n\"stackFrames\": {"));
		write_stack_frames(&w);
		strbuf_add(&sink->text, STR("\n},\n"));
		write_other(&w);
	}
	free(w.thread_has_zones);
	free(w.ticks_by_end);
	free(w.is_sampled);
	return err;
}

const struct writer writer_chrome = {
	.name = "chrome",
	.extension = ".trace.json",
	.summary = "trace events: zones, ticks and samples over time, for Perfetto and "
		   "chrome://tracing",
	.is_of_times = true,
	.write = chrome_write,
};
