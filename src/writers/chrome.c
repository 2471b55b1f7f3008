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
#include "writers/writers.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/escape.h"
#include "base/vec.h"

/* Ticks are on tracks of their own, with numbers that no thread has. */
#define TICK_TRACK (INT64_C(1) << 30)

struct chrome_writer {
	const struct profile *profile;
	struct sink *sink;
	metric_id metric;	   /* of the samples that are written */
	metric_id zone_time;	   /* NO_ID: there is none */
	bool has_event;		   /* one is written, so that the next needs a comma */
	bool *thread_has_zones;	   /* [thread]: events tell of its zones */
	uint64_t *thread_end;	   /* [thread]: up to when its zones are told of */
	uint64_t *thread_time;	   /* [thread]: the time in them, in all */
	struct tick *ticks_by_end; /* [tick_count] those of each process's default stream */
	size_t tick_count;
	bool *is_sampled;   /* [stack]: a sample that is written refers to it, or to one below */
	VEC(uint32_t) path; /* scratch: stacks to be entered, inner ones first */
};

static struct strbuf *begin_event(struct chrome_writer *w)
{
	struct strbuf *out = &w->sink->text;

	strbuf_add(out, w->has_event ? STR(",\n") : STR("\n"));
	w->has_event = true;
	return out;
}

static void end_event(struct chrome_writer *w)
{
	strbuf_add_char(&w->sink->text, '}');
	(void)sink_settle(w->sink);
}

static void put_string(struct strbuf *out, struct str s)
{
	strbuf_add_char(out, '"');
	escape_json(out, s);
	strbuf_add_char(out, '"');
}

/* Microseconds, to the nanosecond. */
static void put_us(struct strbuf *out, uint64_t time_ns)
{
	strbuf_printf(out, "%" PRIu64 ".%03" PRIu64, time_ns / 1000, time_ns % 1000);
}

static void put_task(struct strbuf *out, int64_t pid, int64_t tid)
{
	strbuf_printf(out, ", \"pid\": %" PRId64 ", \"tid\": %" PRId64, pid, tid);
}

static void put_thread(struct chrome_writer *w, uint32_t thread)
{
	const struct thread *t = &w->profile->threads[thread];

	put_task(&w->sink->text, w->profile->processes[t->process.i].pid, t->tid);
}

static struct str stack_name(const struct profile *p, uint32_t stack)
{
	const struct frame *frame = &p->frames[p->stacks[stack].frame.i];
	struct str name = profile_string(p, p->functions[frame->function.i].name);

	return name.size ? name : STR("[unknown]");
}

/* ---- Names of tracks */

static void write_name(
	struct chrome_writer *w, const char *kind, int64_t pid, int64_t tid, struct str name)
{
	struct strbuf *out = begin_event(w);

	strbuf_printf(out, "{\"ph\": \"M\", \"name\": \"%s\"", kind);
	put_task(out, pid, tid);
	strbuf_add(out, STR(", \"args\": {\"name\": "));
	put_string(out, name);
	strbuf_add_char(out, '}');
	end_event(w);
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
	out = begin_event(w);
	strbuf_add(out, STR("{\"ph\": \"M\", \"name\": \"thread_sort_index\""));
	put_task(out, pid, track);
	strbuf_printf(out, ", \"args\": {\"sort_index\": %" PRId64 "}", track - TICK_TRACK - 1000);
	end_event(w);
}

static void write_tick(struct chrome_writer *w, const struct tick *tick, int64_t track)
{
	struct strbuf *out = begin_event(w), name = {0};

	strbuf_add(&name, profile_string(w->profile, tick->stream));
	strbuf_printf(&name, " %" PRIu64, tick->number);
	strbuf_add(out, STR("{\"ph\": \"X\", \"cat\": \"tick\", \"name\": "));
	put_string(out, strbuf_str(&name));
	strbuf_deinit(&name);
	put_task(out, w->profile->processes[tick->process.i].pid, track);
	strbuf_add(out, STR(", \"ts\": "));
	put_us(out, tick->start_ns);
	strbuf_add(out, STR(", \"dur\": "));
	put_us(out, tick->end_ns - tick->start_ns);
	end_event(w);
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

/* ---- Zones over time */

static void write_zone(
	struct chrome_writer *w, char phase, uint32_t thread, uint32_t stack, uint64_t time_ns)
{
	struct strbuf *out = begin_event(w);

	strbuf_printf(out, "{\"ph\": \"%c\", \"cat\": \"zone\", \"name\": ", phase);
	put_string(out, stack_name(w->profile, stack));
	put_thread(w, thread);
	strbuf_add(out, STR(", \"ts\": "));
	put_us(out, time_ns);
	end_event(w);
}

/* [stack]: how many frames it has. */
static uint32_t *stack_depths(const struct profile *p)
{
	uint32_t *depth = xcalloc(p->stack_count, sizeof(*depth));

	for (size_t i = 1; i < p->stack_count; i++)
		depth[i] = depth[p->stacks[i].parent.i] + 1;
	return depth;
}

/* Leaves the zones that are in `from` alone, inner ones first, and enters those of `to`. */
static void write_change(struct chrome_writer *w, const uint32_t *depth, uint32_t thread,
	uint32_t from, uint32_t to, uint64_t time_ns)
{
	const struct stack *stacks = w->profile->stacks;

	w->path.count = 0;
	while (from != to) {
		if (depth[to] > depth[from]) {
			vec_push(&w->path, to);
			to = stacks[to].parent.i;
		} else {
			write_zone(w, 'E', thread, from, time_ns);
			from = stacks[from].parent.i;
		}
	}
	while (w->path.count > 0)
		write_zone(w, 'B', thread, w->path.data[--w->path.count], time_ns);
}

/*
 * When a thread left the zones that are open behind its last event: all its time in zones is known,
 * and what events tell of it.  Where that cannot be, as events are missing, when the last is told.
 */
static uint64_t zones_end(
	const struct chrome_writer *w, uint32_t thread, uint64_t first_ns, uint64_t last_ns)
{
	uint64_t told_ns = last_ns - first_ns, time_ns = w->thread_time[thread];
	uint64_t end_ns = last_ns + (time_ns > told_ns ? time_ns - told_ns : 0);

	if (end_ns > w->thread_end[thread])
		end_ns = w->thread_end[thread];
	return end_ns > last_ns ? end_ns : last_ns;
}

static void write_zones(struct chrome_writer *w)
{
	const struct zone_events *e = &w->profile->zone_events;
	uint32_t *depth = stack_depths(w->profile), at = 0;
	uint64_t first_ns = 0;

	for (size_t i = 0; i < e->count; i++) {
		uint32_t thread = e->thread[i].i;
		bool is_last = i + 1 == e->count || e->thread[i + 1].i != thread;

		if (!w->thread_has_zones[thread])
			first_ns = e->time_ns[i];
		w->thread_has_zones[thread] = true;
		write_change(w, depth, thread, at, e->stack[i].i, e->time_ns[i]);
		at = e->stack[i].i;
		if (!is_last)
			continue;
		write_change(
			w, depth, thread, at, 0, zones_end(w, thread, first_ns, e->time_ns[i]));
		at = 0;
	}
	free(depth);
}

/* ---- Zones by tick, of threads that have no events */

/* A zone row: what its program said of a zone's time, and no sample. */
static bool is_zone_row(const struct chrome_writer *w, size_t sample)
{
	return w->zone_time.i != NO_ID && w->profile->samples.weight[w->zone_time.i][sample] != 0;
}

static void find_ends(struct chrome_writer *w)
{
	const struct samples *s = &w->profile->samples;

	if (s->thread == NULL || s->time_ns == NULL)
		return;
	for (size_t i = 0; i < s->count; i++) {
		uint64_t *end = &w->thread_end[s->thread[i].i];

		if (!is_zone_row(w, i))
			continue;
		if (s->time_ns[i] > *end)
			*end = s->time_ns[i];
		w->thread_time[s->thread[i].i] += (uint64_t)s->weight[w->zone_time.i][i];
	}
}

static void write_counter(struct chrome_writer *w, uint32_t process, uint32_t function,
	uint64_t time_ns, int64_t value_ns)
{
	const struct profile *p = w->profile;
	struct strbuf *out = begin_event(w), name = {0};

	strbuf_add(&name, STR("zone "));
	strbuf_add(&name, profile_string(p, p->functions[function].name));
	strbuf_add(out, STR("{\"ph\": \"C\", \"cat\": \"zone\", \"name\": "));
	put_string(out, strbuf_str(&name));
	strbuf_deinit(&name);
	strbuf_printf(out, ", \"pid\": %" PRId64 ", \"ts\": ", p->processes[process].pid);
	put_us(out, time_ns);
	strbuf_add(out, STR(", \"args\": {\"us in tick\": "));
	put_us(out, (uint64_t)value_ns);
	strbuf_add_char(out, '}');
	end_event(w);
}

/* A zone row by where it belongs. */
struct tick_row {
	uint32_t process, function;
	uint64_t time_ns;
	int64_t weight;
};

static int compare_rows(const void *a, const void *b)
{
	const struct tick_row *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static int compare_ends(const void *a, const void *b)
{
	const struct tick *x = a, *y = b;

	if (x->process.i != y->process.i)
		return x->process.i < y->process.i ? -1 : 1;
	return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

/* [process]: the stream whose ticks its rows are of: "frame", or the first by name. */
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
static void sort_ticks(struct chrome_writer *w)
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

/* When the tick began at whose end the row is told; a row of none is told of its end alone. */
static uint64_t row_start(const struct chrome_writer *w, const struct tick_row *row)
{
	struct tick wanted = {.process = {row->process}, .end_ns = row->time_ns};
	const struct tick *tick = NULL;

	if (w->tick_count)
		tick = bsearch(
			&wanted, w->ticks_by_end, w->tick_count, sizeof(wanted), compare_ends);

	return tick ? tick->start_ns : row->time_ns;
}

/* The rows [first, end) of one zone, in the order of time: a value from each tick's start on. */
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

static void write_counters(struct chrome_writer *w)
{
	const struct profile *p = w->profile;
	const struct samples *s = &p->samples;
	VEC(struct tick_row) rows = {0};

	for (size_t i = 0; i < s->count && s->thread && s->time_ns; i++) {
		uint32_t thread = s->thread[i].i, stack = s->stack[i].i;

		if (!is_zone_row(w, i) || w->thread_has_zones[thread] || stack == 0)
			continue;
		vec_push(&rows, (struct tick_row){p->threads[thread].process.i,
					p->frames[p->stacks[stack].frame.i].function.i,
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

/* ---- Samples */

static void write_sample(struct chrome_writer *w, size_t sample)
{
	const struct profile *p = w->profile;
	const struct samples *s = &p->samples;
	uint32_t stack = s->stack[sample].i;
	struct strbuf *out = begin_event(w);

	strbuf_add(out, STR("{\"ph\": \"i\", \"s\": \"t\", \"cat\": \"sample\", \"name\": "));
	put_string(out, stack ? stack_name(p, stack) : STR("[unknown]"));
	if (s->thread)
		put_thread(w, s->thread[sample].i);
	else
		put_task(out, 0, 0);
	strbuf_add(out, STR(", \"ts\": "));
	put_us(out, s->time_ns[sample]);
	if (stack)
		strbuf_printf(out, ", \"sf\": %" PRIu32, stack);
	strbuf_add(out, STR(", \"args\": {"));
	put_string(out, profile_string(p, p->metrics[w->metric.i].name));
	strbuf_printf(out, ": %" PRId64 "}", s->weight[w->metric.i][sample]);
	end_event(w);
	w->is_sampled[stack] = true;
}

static void write_samples(struct chrome_writer *w)
{
	const struct samples *s = &w->profile->samples;

	for (size_t i = 0; i < s->count && s->time_ns; i++)
		if (s->weight[w->metric.i][i] != 0 && !is_zone_row(w, i))
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
		put_string(out, stack_name(p, i));
		strbuf_add(out, STR(", \"category\": "));
		put_string(out, profile_module(p, p->functions[frame->function.i].object));
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
	put_string(out, profile_string(p, p->command));
	strbuf_add(out, STR(", \"host\": "));
	put_string(out, profile_string(p, p->host));
	strbuf_printf(out, ", \"start_unix_ns\": \"%" PRIu64 "\"", p->start_unix_ns);
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
	return error_new(ERROR_UNSUPPORTED,
		"%.*s does not tell when anything happened, and a trace is of nothing else",
		STR_ARG(profile_string(p, p->source)));
}

static struct error *chrome_write(
	struct sink *sink, const struct profile *profile, const struct writer_options *options)
{
	struct chrome_writer w = {.profile = profile,
		.sink = sink,
		.metric = options->metric,
		.zone_time = {NO_ID},
		.thread_has_zones = xcalloc(profile->thread_count, sizeof(bool)),
		.thread_end = xcalloc(profile->thread_count, sizeof(uint64_t)),
		.thread_time = xcalloc(profile->thread_count, sizeof(uint64_t)),
		.is_sampled = xcalloc(profile->stack_count, sizeof(bool))};
	struct error *err = check_times(profile);

	if (err == NULL) {
		(void)profile_find_metric(profile, STR(ZONE_TIME), &w.zone_time);
		sort_ticks(&w);
		find_ends(&w);
		strbuf_add(&sink->text, STR("{\"displayTimeUnit\": \"ns\", \"traceEvents\": ["));
		write_names(&w);
		write_ticks(&w);
		write_zones(&w);
		write_counters(&w);
		write_samples(&w);
		strbuf_add(&sink->text, STR("\n],\n\"stackFrames\": {"));
		write_stack_frames(&w);
		strbuf_add(&sink->text, STR("\n},\n"));
		write_other(&w);
	}
	free(w.thread_has_zones);
	free(w.thread_end);
	free(w.thread_time);
	free(w.ticks_by_end);
	free(w.is_sampled);
	vec_deinit(&w.path);
	return err;
}

const struct writer writer_chrome = {
	.name = "chrome",
	.extension = ".json",
	.summary = "trace events: zones, ticks and samples over time, for Perfetto and "
		   "chrome://tracing",
	.write = chrome_write,
};
