/*
 * Writes the canonical text dump: everything in a profile, so that reading it restores the profile,
 * and two profiles can be compared as text. docs/formats/dump.md describes it.
 *
 * Tables are sorted by contents and refer to each other by name, so that the text does not depend
 * on the order in which a profile was built, and a change affects few lines.  The order in which
 * stacks were first seen is in separate lines ("order").
 */
#include "formats/writers.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/escape.h"
#include "formats/common/stack_order.h"

struct dump_writer {
	const struct profile *profile;
	struct sink *sink;
	/* [rank]: the rows of each table, in dump order. */
	uint32_t *objects, *functions, *frames, *processes, *threads, *arcs, *labels, *ticks,
		*zone_events;
	/* [row]: the inverse. */
	uint32_t *object_rank, *function_rank, *frame_rank, *process_rank, *thread_rank,
		*label_rank;
	/*
	 * [row]: its number among those with the same name (for frames: of the same function), from
	 * 1.
	 */
	uint32_t *object_nth, *function_nth, *frame_nth;
	struct stack_order order;
};

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_ranks(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return compare_numbers(*x, *y);
}

static int compare_signed(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_strings(const struct dump_writer *w, string_id a, string_id b)
{
	if (a.i == b.i)
		return 0;
	return str_compare(profile_string(w->profile, a), profile_string(w->profile, b));
}

/* a, or if it is 0, b. */
static int or_else(int a, int b)
{
	return a ? a : b;
}

static int compare_objects(const void *a, const void *b, void *context)
{
	const struct dump_writer *w = context;
	const struct object *x = &w->profile->objects[*(const uint32_t *)a];
	const struct object *y = &w->profile->objects[*(const uint32_t *)b];
	int order = compare_strings(w, x->path, y->path);

	order = or_else(order, compare_strings(w, x->build_id, y->build_id));
	return or_else(order, compare_numbers(x->kind, y->kind));
}

/* 0 for unknown, so that it sorts first. */
static uint64_t object_place(const struct dump_writer *w, object_id object)
{
	return object.i == NO_ID ? 0 : (uint64_t)w->object_rank[object.i] + 1;
}

static int compare_functions(const void *a, const void *b, void *context)
{
	const struct dump_writer *w = context;
	const struct function *x = &w->profile->functions[*(const uint32_t *)a];
	const struct function *y = &w->profile->functions[*(const uint32_t *)b];
	int order = compare_strings(w, x->name, y->name);

	order = or_else(
		order, compare_numbers(object_place(w, x->object), object_place(w, y->object)));
	order = or_else(order, compare_strings(w, x->file, y->file));
	return or_else(order, compare_numbers(x->line, y->line));
}

static int compare_frames(const void *a, const void *b, void *context)
{
	const struct dump_writer *w = context;
	const struct frame *x = &w->profile->frames[*(const uint32_t *)a];
	const struct frame *y = &w->profile->frames[*(const uint32_t *)b];
	int order =
		compare_numbers(w->function_rank[x->function.i], w->function_rank[y->function.i]);

	order = or_else(order, compare_strings(w, x->file, y->file));
	order = or_else(order, compare_numbers(x->line, y->line));
	order = or_else(order, compare_numbers(x->obj_addr, y->obj_addr));
	return or_else(order, compare_numbers(x->is_inline, y->is_inline));
}

/* Processes or threads with equal contents stay in their original order. */
static int compare_processes(const void *a, const void *b, void *context)
{
	const struct dump_writer *w = context;
	const struct process *x = &w->profile->processes[*(const uint32_t *)a];
	const struct process *y = &w->profile->processes[*(const uint32_t *)b];
	int order = compare_signed(x->pid, y->pid);

	order = or_else(order, compare_numbers(x->start_ns, y->start_ns));
	order = or_else(order, compare_strings(w, x->name, y->name));
	return or_else(order, x < y ? -1 : x > y);
}

static int compare_threads(const void *a, const void *b, void *context)
{
	const struct dump_writer *w = context;
	const struct thread *x = &w->profile->threads[*(const uint32_t *)a];
	const struct thread *y = &w->profile->threads[*(const uint32_t *)b];
	int order = compare_numbers(w->process_rank[x->process.i], w->process_rank[y->process.i]);

	order = or_else(order, compare_signed(x->tid, y->tid));
	order = or_else(order, compare_numbers(x->start_ns, y->start_ns));
	order = or_else(order, compare_strings(w, x->name, y->name));
	return or_else(order, x < y ? -1 : x > y);
}

/* 0 for an unknown caller. */
static uint64_t caller_place(const struct dump_writer *w, const struct arc *a)
{
	return a->caller.i == NO_ID ? 0 : (uint64_t)w->function_rank[a->caller.i] + 1;
}

static int compare_arcs(const void *a, const void *b, void *context)
{
	const struct dump_writer *w = context;
	const struct arc *x = &w->profile->arcs[*(const uint32_t *)a];
	const struct arc *y = &w->profile->arcs[*(const uint32_t *)b];

	return or_else(compare_numbers(caller_place(w, x), caller_place(w, y)),
		compare_numbers(w->function_rank[x->callee.i], w->function_rank[y->callee.i]));
}

static int compare_labels(const void *a, const void *b, void *context)
{
	const struct dump_writer *w = context;
	const struct label *x = &w->profile->labels[*(const uint32_t *)a];
	const struct label *y = &w->profile->labels[*(const uint32_t *)b];
	int order = compare_strings(w, x->key, y->key);

	order = or_else(order, compare_strings(w, x->text, y->text));
	order = or_else(order, compare_strings(w, x->unit, y->unit));
	return or_else(order, compare_signed(x->number, y->number));
}

static int compare_ticks(const void *a, const void *b, void *context)
{
	const struct dump_writer *w = context;
	const struct tick *x = &w->profile->ticks[*(const uint32_t *)a];
	const struct tick *y = &w->profile->ticks[*(const uint32_t *)b];
	int order = compare_numbers(w->process_rank[x->process.i], w->process_rank[y->process.i]);

	order = or_else(order, compare_strings(w, x->stream, y->stream));
	order = or_else(order, compare_numbers(x->start_ns, y->start_ns));
	order = or_else(order, compare_numbers(x->number, y->number));
	return or_else(order, compare_numbers(x->end_ns, y->end_ns));
}

static int compare_zone_events(const void *a, const void *b, void *context)
{
	const struct dump_writer *w = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const thread_id *thread = w->profile->zone_events.thread;

	return or_else(compare_numbers(w->thread_rank[thread[x].i], w->thread_rank[thread[y].i]),
		compare_numbers(x, y));
}

static uint32_t *sort_rows(
	struct dump_writer *w, size_t count, int (*compare)(const void *, const void *, void *))
{
	uint32_t *rows = xcalloc(count, sizeof(*rows));

	for (size_t i = 0; i < count; i++)
		rows[i] = (uint32_t)i;
	qsort_r(rows, count, sizeof(*rows), compare, w);
	return rows;
}

static void sort_table(struct dump_writer *w, size_t count,
	int (*compare)(const void *, const void *, void *), uint32_t **rows, uint32_t **rank)
{
	*rows = sort_rows(w, count, compare);
	*rank = xcalloc(count, sizeof(**rank));
	for (size_t i = 0; i < count; i++)
		(*rank)[(*rows)[i]] = (uint32_t)i;
}

/* Numbers neighbours with equal keys from 1 on. */
static uint32_t *number_equals(const struct dump_writer *w, const uint32_t *rows, size_t count,
	uint32_t (*key)(const struct profile *, uint32_t row))
{
	uint32_t *nth = xcalloc(count, sizeof(*nth));

	for (size_t i = 0; i < count; i++) {
		bool same = i && key(w->profile, rows[i]) == key(w->profile, rows[i - 1]);
		nth[rows[i]] = same ? nth[rows[i - 1]] + 1 : 1;
	}
	return nth;
}

static uint32_t object_key(const struct profile *p, uint32_t row)
{
	return p->objects[row].path.i;
}

static uint32_t function_key(const struct profile *p, uint32_t row)
{
	return p->functions[row].name.i;
}

static uint32_t frame_key(const struct profile *p, uint32_t row)
{
	return p->frames[row].function.i;
}

static void dump_writer_init(struct dump_writer *w, struct sink *sink, const struct profile *p)
{
	*w = (struct dump_writer){.profile = p, .sink = sink};
	sort_table(w, p->object_count, compare_objects, &w->objects, &w->object_rank);
	sort_table(w, p->function_count, compare_functions, &w->functions, &w->function_rank);
	sort_table(w, p->frame_count, compare_frames, &w->frames, &w->frame_rank);
	sort_table(w, p->process_count, compare_processes, &w->processes, &w->process_rank);
	sort_table(w, p->thread_count, compare_threads, &w->threads, &w->thread_rank);
	sort_table(w, p->label_count, compare_labels, &w->labels, &w->label_rank);
	w->arcs = sort_rows(w, p->arc_count, compare_arcs);
	w->ticks = sort_rows(w, p->tick_count, compare_ticks);
	w->zone_events = sort_rows(w, p->zone_events.count, compare_zone_events);
	w->object_nth = number_equals(w, w->objects, p->object_count, object_key);
	w->function_nth = number_equals(w, w->functions, p->function_count, function_key);
	w->frame_nth = number_equals(w, w->frames, p->frame_count, frame_key);
	stack_order_init(&w->order, p, w->frame_rank);
}

static void dump_writer_deinit(struct dump_writer *w)
{
	uint32_t *columns[] = {w->objects, w->functions, w->frames, w->processes, w->threads,
		w->arcs, w->object_rank, w->function_rank, w->frame_rank, w->process_rank,
		w->thread_rank, w->labels, w->label_rank, w->ticks, w->zone_events, w->object_nth,
		w->function_nth, w->frame_nth};

	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		free(columns[i]);
	stack_order_deinit(&w->order);
}

static void put_text(struct dump_writer *w, struct str text)
{
	strbuf_add(&w->sink->text, STR(" \""));
	escape_bytes(&w->sink->text, text);
	strbuf_add_char(&w->sink->text, '"');
}

static void put_string(struct dump_writer *w, string_id id)
{
	put_text(w, profile_string(w->profile, id));
}

static void put_word(struct dump_writer *w, const char *word)
{
	strbuf_add(&w->sink->text, str_from(word));
}

static void put_number(struct dump_writer *w, uint64_t number)
{
	strbuf_printf(&w->sink->text, " %llu", (unsigned long long)number);
}

static void put_signed(struct dump_writer *w, int64_t number)
{
	strbuf_printf(&w->sink->text, " %lld", (long long)number);
}

static void end_line(struct dump_writer *w)
{
	strbuf_add_char(&w->sink->text, '\n');
	(void)sink_settle(w->sink);
}

static void put_string_line(struct dump_writer *w, const char *word, string_id id)
{
	if (id.i == 0)
		return;
	put_word(w, word);
	put_string(w, id);
	end_line(w);
}

static void write_header(struct dump_writer *w)
{
	const struct profile *p = w->profile;

	put_word(w, "sonde-dump 1\n");
	put_string_line(w, "source", p->source);
	put_string_line(w, "format", p->format);
	put_string_line(w, "command", p->command);
	put_string_line(w, "host", p->host);
	put_string_line(w, "when", p->when);
	if (p->start_unix_ns) {
		put_word(w, "start-unix-ns");
		put_number(w, p->start_unix_ns);
		end_line(w);
	}
	if (!p->has_stacks) {
		put_word(w, "no-stacks");
		end_line(w);
	}
	for (const struct stat_field *f = stat_fields; f->name; f++) {
		uint64_t value;
		memcpy(&value, (const char *)&p->stats + f->offset, sizeof(value));
		if (value != UINT64_MAX) {
			strbuf_printf(&w->sink->text, "stat %s", f->name);
			put_number(w, value);
			end_line(w);
		}
	}
}

static void write_metrics(struct dump_writer *w)
{
	for (size_t m = 0; m < w->profile->metric_count; m++) {
		put_word(w, "metric");
		put_string(w, w->profile->metrics[m].name);
		put_string(w, w->profile->metrics[m].unit);
		if (m == w->profile->default_metric.i)
			put_word(w, " default");
		end_line(w);
	}
}

static void write_notes(struct dump_writer *w)
{
	for (size_t i = 0; i < w->profile->note_count; i++) {
		const struct note *n = &w->profile->notes[i];
		strbuf_printf(&w->sink->text, "note %s", note_kind_names[n->kind]);
		put_number(w, n->count);
		put_string(w, n->text);
		end_line(w);
	}
}

static void write_objects(struct dump_writer *w)
{
	for (size_t i = 0; i < w->profile->object_count; i++) {
		const struct object *o = &w->profile->objects[w->objects[i]];
		strbuf_printf(&w->sink->text, "object %s", object_kind_names[o->kind]);
		put_string(w, o->path);
		if (o->build_id.i)
			put_string(w, o->build_id);
		end_line(w);
	}
}

/* Writes ` file "NAME" line N`, as far as known. */
static void put_place(struct dump_writer *w, string_id file, uint32_t line)
{
	if (file.i) {
		put_word(w, " file");
		put_string(w, file);
	}
	if (line) {
		put_word(w, " line");
		put_number(w, line);
	}
}

/* Writes "NAME" for the first with that name, "NAME"#2 for the second. */
static void put_reference(struct dump_writer *w, string_id name, uint32_t nth)
{
	put_string(w, name);
	if (nth > 1)
		strbuf_printf(&w->sink->text, "#%u", nth);
}

static void write_frame(struct dump_writer *w, const struct frame *f)
{
	put_word(w, "frame");
	put_place(w, f->file, f->line);
	if (f->obj_addr)
		strbuf_printf(&w->sink->text, " addr 0x%llx", (unsigned long long)f->obj_addr);
	if (f->is_inline)
		put_word(w, " inline");
	end_line(w);
}

static void put_alias(struct dump_writer *w, struct str alias)
{
	put_word(w, " alias");
	put_text(w, alias);
}

/* Writes each function, followed by its frames. */
static void write_functions(struct dump_writer *w)
{
	const struct profile *p = w->profile;
	size_t frame = 0;

	for (size_t i = 0; i < p->function_count; i++) {
		const struct function *f = &p->functions[w->functions[i]];
		put_word(w, "function");
		put_string(w, f->name);
		if (f->object.i != NO_ID) {
			put_word(w, " object");
			put_reference(w, p->objects[f->object.i].path, w->object_nth[f->object.i]);
		}
		put_place(w, f->file, f->line);
		for (struct str rest = profile_string(p, f->aliases); rest.size;)
			put_alias(w, str_take_item(&rest));
		end_line(w);
		for (; frame < p->frame_count; frame++) {
			const struct frame *of = &p->frames[w->frames[frame]];
			if (of->function.i != w->functions[i])
				break;
			write_frame(w, of);
		}
	}
}

/* Writes a function by its name. */
static void put_function(struct dump_writer *w, function_id function)
{
	put_reference(w, w->profile->functions[function.i].name, w->function_nth[function.i]);
}

static void write_arcs(struct dump_writer *w)
{
	for (size_t i = 0; i < w->profile->arc_count; i++) {
		const struct arc *a = &w->profile->arcs[w->arcs[i]];

		put_word(w, "arc");
		if (a->caller.i == NO_ID)
			put_word(w, " spontaneous");
		else
			put_function(w, a->caller);
		put_function(w, a->callee);
		put_word(w, " calls");
		put_number(w, a->calls);
		if (w->profile->arc_cost)
			put_word(w, " cost");
		for (size_t m = 0; w->profile->arc_cost && m < w->profile->metric_count; m++)
			put_signed(w, w->profile->arc_cost[m][w->arcs[i]]);
		end_line(w);
	}
}

static void write_tasks(struct dump_writer *w)
{
	for (size_t i = 0; i < w->profile->process_count; i++) {
		const struct process *p = &w->profile->processes[w->processes[i]];
		put_word(w, "process");
		put_signed(w, p->pid);
		put_word(w, " start");
		put_number(w, p->start_ns);
		put_string(w, p->name);
		end_line(w);
	}
	for (size_t i = 0; i < w->profile->thread_count; i++) {
		const struct thread *t = &w->profile->threads[w->threads[i]];
		put_word(w, "thread");
		put_signed(w, t->tid);
		put_word(w, " process");
		put_number(w, w->process_rank[t->process.i]);
		put_word(w, " start");
		put_number(w, t->start_ns);
		put_string(w, t->name);
		end_line(w);
	}
}

/* Whether the stack has a weight to write; the empty stack always has. */
static bool has_weight(const struct profile *p, uint32_t stack)
{
	if (stack == 0 || (p->row_samples && profile_samples(p, stack)))
		return true;
	for (size_t m = 0; m < p->metric_count; m++)
		if (profile_weight(p, m, stack))
			return true;
	return false;
}

static void write_stacks(struct dump_writer *w)
{
	const struct profile *p = w->profile;

	for (size_t row = 0; row < w->order.count; row++) {
		uint32_t stack = w->order.stack[row];
		put_word(w, "stack");
		put_number(w, w->order.level[row]);
		if (stack) {
			frame_id frame = p->stack_frame[stack];
			put_function(w, p->frames[frame.i].function);
			if (w->frame_nth[frame.i] > 1)
				strbuf_printf(&w->sink->text, "@%u", w->frame_nth[frame.i]);
		}
		if (p->samples.count == 0 && has_weight(p, stack)) {
			for (size_t m = 0; m < p->metric_count; m++)
				put_signed(w, profile_weight(p, m, stack));
			if (p->row_samples) {
				put_word(w, " samples");
				put_number(w, profile_samples(p, stack));
			}
		}
		end_line(w);
	}
}

/* Writes the rows in first-seen order, as runs, unless that is the dump's order. */
static void write_order(struct dump_writer *w)
{
	const uint32_t *row = w->order.row;
	size_t first = 0, on_line = 0;

	while (first < w->order.count) {
		size_t last = first;
		while (last + 1 < w->order.count && row[last + 1] == row[last] + 1)
			last++;
		if (first == 0 && last + 1 == w->order.count)
			return;
		if (on_line == 0)
			put_word(w, "order");
		put_number(w, row[first]);
		if (last > first)
			strbuf_printf(&w->sink->text, "-%u", row[last]);
		first = last + 1;
		on_line = (on_line + 1) % 16;
		if (on_line == 0 || first == w->order.count)
			end_line(w);
	}
}

static void write_labels(struct dump_writer *w)
{
	for (size_t i = 0; i < w->profile->label_count; i++) {
		const struct label *l = &w->profile->labels[w->labels[i]];

		put_word(w, "label");
		put_string(w, l->key);
		if (l->text.i)
			put_string(w, l->text);
		if (l->number || l->text.i == 0) {
			put_word(w, " number");
			put_signed(w, l->number);
		}
		if (l->unit.i) {
			put_word(w, " unit");
			put_string(w, l->unit);
		}
		end_line(w);
	}
}

/* Writes labels in the order of their lines. */
static void put_labels(struct dump_writer *w, label_set_id set)
{
	size_t count = profile_label_count(w->profile, set);

	if (count == 0)
		return;
	uint32_t *ranks = xcalloc(count, sizeof(*ranks));
	for (size_t i = 0; i < count; i++, set = w->profile->label_sets[set.i].rest)
		ranks[i] = w->label_rank[w->profile->label_sets[set.i].label.i];
	qsort(ranks, count, sizeof(*ranks), compare_ranks);
	put_word(w, " labels");
	for (size_t i = 0; i < count; i++)
		put_number(w, ranks[i]);
	free(ranks);
}

static void write_samples(struct dump_writer *w)
{
	const struct samples *s = &w->profile->samples;

	for (size_t i = 0; i < s->count; i++) {
		put_word(w, "sample");
		put_number(w, w->order.row[s->stack[i].i]);
		if (s->thread) {
			put_word(w, " thread");
			put_number(w, w->thread_rank[s->thread[i].i]);
		}
		if (s->time_ns) {
			put_word(w, " time");
			put_number(w, s->time_ns[i]);
		}
		if (s->zone) {
			put_word(w, " zone");
			put_number(w, w->order.row[s->zone[i].i]);
		}
		if (s->labels)
			put_labels(w, s->labels[i]);
		put_word(w, " weight");
		for (size_t m = 0; m < w->profile->metric_count; m++)
			put_signed(w, s->weight[m][i]);
		end_line(w);
	}
}

static void write_ticks(struct dump_writer *w)
{
	for (size_t i = 0; i < w->profile->tick_count; i++) {
		const struct tick *t = &w->profile->ticks[w->ticks[i]];

		put_word(w, "tick process");
		put_number(w, w->process_rank[t->process.i]);
		put_string(w, t->stream);
		put_number(w, t->number);
		put_word(w, " start");
		put_number(w, t->start_ns);
		put_word(w, " end");
		put_number(w, t->end_ns);
		if (t->thread.i != NO_ID) {
			put_word(w, " thread");
			put_number(w, w->thread_rank[t->thread.i]);
		}
		end_line(w);
	}
}

/* Writes zone events thread by thread, in the dump's order of threads, each by time. */
static void write_zone_events(struct dump_writer *w)
{
	const struct zone_events *e = &w->profile->zone_events;

	for (size_t i = 0; i < e->count; i++) {
		size_t at = w->zone_events[i];

		put_word(w, "zone-event thread");
		put_number(w, w->thread_rank[e->thread[at].i]);
		put_word(w, " time");
		put_number(w, e->time_ns[at]);
		put_word(w, " stack");
		put_number(w, w->order.row[e->stack[at].i]);
		end_line(w);
	}
}

static struct error *dump_write(
	struct sink *sink, const struct profile *profile, const struct writer_options *options)
{
	struct dump_writer w;

	(void)options; /* a dump holds everything */
	dump_writer_init(&w, sink, profile);
	write_header(&w);
	write_metrics(&w);
	write_notes(&w);
	write_objects(&w);
	write_functions(&w);
	write_arcs(&w);
	write_tasks(&w);
	write_stacks(&w);
	write_order(&w);
	write_labels(&w);
	write_samples(&w);
	write_ticks(&w);
	write_zone_events(&w);
	put_word(&w, "end\n");
	dump_writer_deinit(&w);
	return NULL;
}

const struct writer writer_dump = {
	.name = "dump",
	.extension = ".dump",
	.summary = "everything in a profile as text, in canonical order",
	.holds_all = true,
	.write = dump_write,
};
