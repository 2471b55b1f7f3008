/*
 * Zones in a trace: entered and left as events tell, and by tick where there are none.
 */
#include "writers/chrome_state.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

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

void chrome_write_zones(struct chrome_writer *w)
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

void chrome_find_ends(struct chrome_writer *w)
{
	const struct samples *s = &w->profile->samples;

	if (s->thread == NULL || s->time_ns == NULL)
		return;
	for (size_t i = 0; i < s->count; i++) {
		uint64_t *end = &w->thread_end[s->thread[i].i];

		if (!chrome_is_zone_row(w, i))
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
