/*
 * Zones in a trace: entered and left as events tell, and by tick where there are none.
 */
#include "formats/chrome/writer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "formats/common/zone_walk.h"

/* ---- Zones over time */

static void write_zone(
	struct chrome_writer *w, char phase, uint32_t thread, uint32_t stack, uint64_t time_ns)
{
	struct strbuf *out = chrome_begin(w);

	strbuf_printf(out, "{\"ph\": \"%c\", \"cat\": \"zone\", \"name\": ", phase);
	chrome_string(out, chrome_stack_name(w->profile, stack));
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

void chrome_write_zones(struct chrome_writer *w)
{
	const struct zone_events *e = &w->profile->zone_events;

	for (size_t i = 0; i < e->count; i++)
		w->thread_has_zones[e->thread[i].i] = true;
	zone_walk(w->profile, w, enter_zone, leave_zone);
}

/* ---- Zones by tick, of threads that have no events */

static void write_counter(struct chrome_writer *w, uint32_t process, uint32_t function,
	uint64_t time_ns, int64_t value_ns)
{
	const struct profile *p = w->profile;
	struct strbuf *out = chrome_begin(w), name = {0};

	strbuf_add(&name, STR("zone "));
	strbuf_add(&name, profile_string(p, p->functions[function].name));
	strbuf_add(out, STR("{\"ph\": \"C\", \"cat\": \"zone\", \"name\": "));
	chrome_string(out, strbuf_str(&name));
	strbuf_deinit(&name);
	strbuf_printf(out, ", \"pid\": %" PRId64 ", \"ts\": ", p->processes[process].pid);
	chrome_us(out, time_ns);
	strbuf_add(out, STR(", \"args\": {\"us in tick\": "));
	chrome_us(out, (uint64_t)value_ns);
	strbuf_add_char(out, '}');
	chrome_end(w);
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
void chrome_sort_ticks(struct chrome_writer *w)
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

void chrome_write_counters(struct chrome_writer *w)
{
	const struct profile *p = w->profile;
	const struct samples *s = &p->samples;
	VEC(struct tick_row) rows = {0};

	for (size_t i = 0; i < s->count && s->thread && s->time_ns; i++) {
		uint32_t thread = s->thread[i].i, stack = s->stack[i].i;

		if (!chrome_is_zone_row(w, i) || w->thread_has_zones[thread] || stack == 0)
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
