/*
 * Writes the trace event format of chrome://tracing and Perfetto. docs/formats/chrome.md defines
 * the output exactly.
 *
 * Source: "Trace Event Format" (Chromium project), the JSON object form; duration, complete,
 * counter, instant and metadata events, and its dictionary of stack frames.
 *
 * Everything is written in one pass over each table, with one number kept per function and per
 * stack.
 */
#include "formats/writers.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/escape.h"
#include "base/sort.h"
#include "base/vec.h"
#include "formats/common/exporter.h"
#include "formats/common/zone_walk.h"

struct chrome_writer {
	const struct profile *profile;
	struct sink *sink;
	metric_id metric;	   /* of the written samples */
	metric_id zone_time;	   /* NO_ID: none */
	bool has_event;		   /* one was written, so the next needs a comma before it */
	bool *thread_has_zones;	   /* [thread]: it has zone events */
	struct tick *ticks_by_end; /* [tick_count]: those of each process's default stream */
	size_t tick_count;
	bool *is_sampled; /* [stack]: a written sample refers to it or to a stack called from it */
};

/* Whether a sample is a zone row, which is not a sample but the program's own measurement. */
static inline bool chrome_is_zone_row(const struct chrome_writer *w, size_t sample)
{
	return w->zone_time.i != NO_ID && w->profile->samples.weight[w->zone_time.i][sample] != 0;
}

/* Ticks have separate tracks, with numbers above those of any thread. */
#define TICK_TRACK (INT64_C(1) << 30)

/* The text of an event goes between begin and end. */
static struct strbuf *chrome_begin(struct chrome_writer *w)
{
	struct strbuf *out = &w->sink->text;

	strbuf_add(out, w->has_event ? STR(",\n") : STR("\n"));
	w->has_event = true;
	return out;
}

static void chrome_end(struct chrome_writer *w)
{
	strbuf_add_char(&w->sink->text, '}');
	(void)sink_settle(w->sink);
}

/* Writes microseconds with three decimals. */
static void chrome_us(struct strbuf *out, uint64_t time_ns)
{
	strbuf_printf(out, "%" PRIu64 ".%03" PRIu64, time_ns / 1000, time_ns % 1000);
}

/* Writes the members pid and tid. */
static void chrome_task(struct strbuf *out, int64_t pid, int64_t tid)
{
	strbuf_printf(out, ", \"pid\": %" PRId64 ", \"tid\": %" PRId64, pid, tid);
}

static void chrome_thread(struct chrome_writer *w, uint32_t thread)
{
	const struct thread *t = &w->profile->threads[thread];

	chrome_task(&w->sink->text, w->profile->processes[t->process.i].pid, t->tid);
}

/* The name of a stack's leaf function. */
static struct str chrome_stack_name(const struct profile *p, uint32_t stack)
{
	const struct frame *frame = &p->frames[p->stack_frame[stack].i];
	struct str name = profile_string(p, p->functions[frame->function.i].name);

	return name.size ? name : STR("[unknown]");
}

/* ---- Zones over time */

static void write_zone(
	struct chrome_writer *w, char phase, uint32_t thread, uint32_t stack, uint64_t time_ns)
{
	struct strbuf *out = chrome_begin(w);

	strbuf_printf(out, "{\"ph\": \"%c\", \"cat\": \"zone\", \"name\": ", phase);
	quote_json(out, chrome_stack_name(w->profile, stack));
	chrome_thread(w, thread);
	strbuf_add(out, STR(", \"ts\": "));
	chrome_us(out, time_ns);
	chrome_end(w);
}

static void enter_zone(void *context, uint32_t thread, uint32_t stack, uint64_t time_ns)
{
	write_zone(context, 'B', thread, stack, time_ns);
}

static void leave_zone(void *context, uint32_t thread, uint32_t stack, uint64_t time_ns)
{
	write_zone(context, 'E', thread, stack, time_ns);
}

static void chrome_write_zones(struct chrome_writer *w)
{
	const struct zone_events *e = &w->profile->zone_events;

	for (size_t i = 0; i < e->count; i++)
		w->thread_has_zones[e->thread[i].i] = true;
	zone_walk(w->profile, w, enter_zone, leave_zone);
}

/* ---- Zones by tick, of threads without events */

static void write_counter(struct chrome_writer *w, uint32_t process, uint32_t function,
	uint64_t time_ns, int64_t value_ns)
{
	const struct profile *p = w->profile;
	struct strbuf *out = chrome_begin(w), name = {0};

	strbuf_add(&name, STR("zone "));
	strbuf_add(&name, profile_string(p, p->functions[function].name));
	strbuf_add(out, STR("{\"ph\": \"C\", \"cat\": \"zone\", \"name\": "));
	quote_json(out, strbuf_str(&name));
	strbuf_deinit(&name);
	strbuf_printf(out, ", \"pid\": %" PRId64 ", \"ts\": ", p->processes[process].pid);
	chrome_us(out, time_ns);
	strbuf_add(out, STR(", \"args\": {\"us in tick\": "));
	chrome_us(out, (uint64_t)value_ns);
	strbuf_add_char(out, '}');
	chrome_end(w);
}

/* A zone row, sorted by thread, zone and tick. */
struct tick_row {
	uint32_t process, function;
	uint64_t time_ns;
	int64_t weight;
};

static int compare_rows(const void *a, const void *b)
{
	const struct tick_row *x = a, *y = b;

	return COMPARE(x->process, y->process) ?: COMPARE(x->function, y->function) ?:
	       COMPARE(x->time_ns, y->time_ns);
}

static int compare_ends(const void *a, const void *b)
{
	const struct tick *x = a, *y = b;

	return COMPARE(x->process.i, y->process.i) ?: COMPARE(x->end_ns, y->end_ns);
}

/* [process]: the stream that its rows' ticks belong to: "frame", or the first by name. */
static string_id *find_streams(const struct profile *p)
{
	string_id *stream = xcalloc(p->process_count, sizeof(*stream));
	bool *is_known = xcalloc(p->process_count, sizeof(*is_known));

	for (size_t i = 0; i < p->tick_count; i++) {
		const struct tick *t = &p->ticks[i];

		string_id *best = &stream[t->process.i];
		struct str name = profile_string(p, t->stream), before = profile_string(p, *best);

		if (!is_known[t->process.i] || str_equal(name, STR("frame")) ||
			(!str_equal(before, STR("frame")) && str_compare(name, before) < 0))
			*best = t->stream;
		is_known[t->process.i] = true;
	}
	free(is_known);
	return stream;
}

/* Sets ticks_by_end. */
static void chrome_sort_ticks(struct chrome_writer *w)
{
	const struct profile *p = w->profile;
	string_id *stream = find_streams(p);

	w->ticks_by_end = xcalloc(p->tick_count, sizeof(*w->ticks_by_end));
	for (size_t i = 0; i < p->tick_count; i++)
		if (p->ticks[i].stream.i == stream[p->ticks[i].process.i].i)
			w->ticks_by_end[w->tick_count++] = p->ticks[i];
	free(stream);
	if (w->tick_count)
		qsort(w->ticks_by_end, w->tick_count, sizeof(*w->ticks_by_end), compare_ends);
}

/* The start of the row's tick.  A row without a tick has only an end. */
static uint64_t row_start(const struct chrome_writer *w, const struct tick_row *row)
{
	struct tick wanted = {.process = {row->process}, .end_ns = row->time_ns};
	const struct tick *tick = NULL;

	if (w->tick_count)
		tick = bsearch(
			&wanted, w->ticks_by_end, w->tick_count, sizeof(wanted), compare_ends);

	return tick ? tick->start_ns : row->time_ns;
}

/*
 * Writes the rows [first, end) of one zone, ordered by time: one value from each tick's start on.
 */
static void write_counters_of(
	struct chrome_writer *w, const struct tick_row *rows, size_t first, size_t end)
{
	uint64_t until = UINT64_MAX;

	for (size_t i = first; i < end;) {
		const struct tick_row *row = &rows[i];
		uint64_t start = row_start(w, row);
		int64_t sum = 0;

		for (; i < end && rows[i].time_ns == row->time_ns; i++)
			sum += rows[i].weight;
		if (until != UINT64_MAX && until < start)
			write_counter(w, row->process, row->function, until, 0);
		write_counter(w, row->process, row->function, start, sum);
		until = row->time_ns;
	}
	write_counter(w, rows[first].process, rows[first].function, until, 0);
}

/* Called after chrome_write_zones, for threads without events. */
static void chrome_write_counters(struct chrome_writer *w)
{
	const struct profile *p = w->profile;
	const struct samples *s = &p->samples;
	VEC(struct tick_row) rows = {0};

	for (size_t i = 0; i < s->count && s->thread && s->time_ns; i++) {
		uint32_t thread = s->thread[i].i, stack = s->stack[i].i;

		if (!chrome_is_zone_row(w, i) || w->thread_has_zones[thread] || stack == 0)
			continue;
		vec_push(&rows, (struct tick_row){p->threads[thread].process.i,
					p->frames[p->stack_frame[stack].i].function.i,
					s->time_ns[i], s->weight[w->zone_time.i][i]});
	}
	if (rows.count)
		qsort(rows.data, rows.count, sizeof(*rows.data), compare_rows);
	for (size_t i = 0, end; i < rows.count; i = end) {
		for (end = i; end < rows.count && rows.data[end].process == rows.data[i].process &&
			      rows.data[end].function == rows.data[i].function;)
			end++;
		write_counters_of(w, rows.data, i, end);
	}
	vec_deinit(&rows);
}

/* ---- Names of tracks */

static void write_name(
	struct chrome_writer *w, const char *kind, int64_t pid, int64_t tid, struct str name)
{
	struct strbuf *out = chrome_begin(w);

	strbuf_printf(out, "{\"ph\": \"M\", \"name\": \"%s\"", kind);
	chrome_task(out, pid, tid);
	strbuf_add(out, STR(", \"args\": {\"name\": "));
	quote_json(out, name);
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
	quote_json(out, strbuf_str(&name));
	strbuf_deinit(&name);
	chrome_task(out, w->profile->processes[tick->process.i].pid, track);
	strbuf_add(out, STR(", \"ts\": "));
	chrome_us(out, tick->start_ns);
	strbuf_add(out, STR(", \"dur\": "));
	chrome_us(out, tick->end_ns - tick->start_ns);
	chrome_end(w);
}

/* Writes each stream of each process as a track. */
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
	quote_json(out, stack ? chrome_stack_name(p, stack) : STR("[unknown]"));
	if (s->thread)
		chrome_thread(w, s->thread[sample].i);
	else
		chrome_task(out, 0, 0);
	strbuf_add(out, STR(", \"ts\": "));
	chrome_us(out, s->time_ns[sample]);
	if (stack)
		strbuf_printf(out, ", \"sf\": %" PRIu32, stack);
	strbuf_add(out, STR(", \"args\": {"));
	quote_json(out, profile_string(p, p->metrics[w->metric.i].name));
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

/* Writes the stacks that samples refer to; each names its caller. */
static void write_stack_frames(struct chrome_writer *w)
{
	const struct profile *p = w->profile;
	struct strbuf *out = &w->sink->text;
	bool is_first = true;

	for (uint32_t i = (uint32_t)p->stack_count; i-- > 1;)
		if (w->is_sampled[i])
			w->is_sampled[profile_stack_parent(p, i)] = true;
	for (uint32_t i = 1; i < p->stack_count && sink_settle(w->sink); i++) {
		const struct frame *frame = &p->frames[p->stack_frame[i].i];
		uint32_t parent = profile_stack_parent(p, i);

		if (!w->is_sampled[i])
			continue;
		strbuf_printf(out, "%s\"%" PRIu32 "\": {\"name\": ", is_first ? "\n" : ",\n", i);
		quote_json(out, chrome_stack_name(p, i));
		strbuf_add(out, STR(", \"category\": "));
		quote_json(out, profile_module(p, p->functions[frame->function.i].object));
		if (parent)
			strbuf_printf(out, ", \"parent\": \"%" PRIu32 "\"", parent);
		strbuf_add_char(out, '}');
		is_first = false;
	}
}

/* Writes notes and the recorded command, for people who read the file. */
static void write_other(struct chrome_writer *w)
{
	const struct profile *p = w->profile;
	struct strbuf *out = &w->sink->text;

	strbuf_add(out, STR("\"otherData\": {\"command\": "));
	quote_json(out, profile_string(p, p->command));
	strbuf_add(out, STR(", \"host\": "));
	quote_json(out, profile_string(p, p->host));
	strbuf_printf(out, ", \"start_unix_ns\": \"%" PRIu64 "\", \"metric\": ", p->start_unix_ns);
	quote_json(out, profile_string(p, p->metrics[w->metric.i].name));
	strbuf_add(out, STR(", \"unit\": "));
	quote_json(out, profile_string(p, p->metrics[w->metric.i].unit));
	for (size_t i = 0; i < p->note_count; i++) {
		struct strbuf text = {0};

		profile_note_text(p, &p->notes[i], &text);
		strbuf_printf(out, ", \"note %zu\": ", i + 1);
		quote_json(out, strbuf_str(&text));
		strbuf_deinit(&text);
	}
	strbuf_add(out, STR("}}\n"));
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
	struct error *err = exporter_check_times(profile);

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
