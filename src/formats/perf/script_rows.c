/* The threads, stacks and rows of samples of `perf script` text.  See script_rows.h. */
#include "formats/perf/script_rows.h"

#include <stdio.h>
#include <stdlib.h>

#include "formats/common/importer.h"
#include "formats/common/spans.h"
#include "formats/perf/dso.h"

/* ---- threads ---- */

/*
 * Threads are added to the builder at the end: a process is named after its main thread, which may
 * come late, or change its name with an exec.
 */

struct perf_task {
	string_id comm;
	int64_t pid, tid, cpu; /* -1: unknown */
};

/*
 * Memory per thread until the builder has it, including indexes.  Without room for it, threads with
 * the same name are not distinguished.
 */
#define TASK_BYTES (3 * sizeof(struct perf_task) + sizeof(struct span) + 160)

static uint64_t task_hash(const void *row)
{
	const struct perf_task *t = row;

	return hash_pair(
		(uint64_t)t->pid ^ (uint64_t)t->cpu << 32, hash_pair((uint64_t)t->tid, t->comm.i));
}

static bool task_same(const void *a, const void *b)
{
	const struct perf_task *x = a, *y = b;

	return x->comm.i == y->comm.i && x->pid == y->pid && x->tid == y->tid && x->cpu == y->cpu;
}

static const struct row_kind task_rows = {sizeof(struct perf_task), task_hash, task_same};

void perf_tasks_deinit(struct perf_tasks *t)
{
	row_table_deinit(&t->whos);
	row_table_deinit(&t->tasks);
}

uint32_t perf_tasks_find(struct perf_tasks *t, struct perf_head *head)
{
	if (head->who.size == 0)
		return NO_ID;
	struct span who = span_of(head->who);
	uint32_t known = span_find(&t->whos, who);
	if (known != NO_ID)
		return known;
	perf_head_who(head);
	/* sonde's own writer writes the latter for an unknown thread. */
	if ((head->comm.size == 0 && head->tid == -1) ||
		str_equal(head->who, STR("[unknown]       0")))
		return NO_ID;
	struct perf_task task = {.comm = builder_string(t->builder, head->comm),
		.pid = head->pid,
		.tid = head->tid,
		.cpu = head->cpu};
	if (!builder_has_room(t->builder, TASK_BYTES)) {
		task.pid = task.tid = task.cpu = -1;
		return row_table_intern(&t->tasks, &task_rows, &task);
	}
	builder_charge(t->builder, TASK_BYTES);
	known = row_table_intern(&t->tasks, &task_rows, &task);
	span_intern(&t->whos, who)->id = known;
	return known;
}

/* What distinguishes processes besides the id: nothing, or the name if the id is unknown. */
static string_id process_apart(const struct perf_task *task)
{
	return task->pid == -1 ? task->comm : (string_id){0};
}

struct processes {
	struct map rows; /* (pid, process_apart) → row */
	VEC(struct perf_task) tasks;
};

/* Finds all processes, each with the thread that it is named after: the main one's last name. */
static void find_processes(const struct perf_tasks *t, struct processes *processes)
{
	for (uint32_t i = 0; i < t->tasks.count; i++) {
		const struct perf_task *task = row_table_row(&t->tasks, &task_rows, i);
		bool added;
		uint32_t *row = map_at(&processes->rows, (uint64_t)task->pid, process_apart(task).i,
			(uint32_t)processes->tasks.count, &added);
		if (added)
			vec_push(&processes->tasks, *task);
		else if (task->tid == task->pid)
			processes->tasks.data[*row] = *task;
	}
}

/*
 * Adds all of them to the builder: returns the process of each task, [tasks.count], which the
 * caller frees.  Does not use the importer's task_process: with a hundred thousand threads, its map
 * would be a second large one.
 */
static process_id *add_processes(struct perf_tasks *t)
{
	struct processes processes = {0};
	process_id *of = xcalloc(t->tasks.count + 1, sizeof(*of));

	find_processes(t, &processes);
	process_id *of_row = xcalloc(processes.tasks.count + 1, sizeof(*of_row));
	for (size_t i = 0; i < processes.tasks.count; i++) {
		const struct perf_task *task = &processes.tasks.data[i];

		of_row[i] = builder_process(
			t->builder, task->pid, 0, builder_string_bytes(t->builder, task->comm));
	}
	for (uint32_t i = 0; i < t->tasks.count; i++) {
		const struct perf_task *task = row_table_row(&t->tasks, &task_rows, i);
		uint32_t row = 0;

		(void)map_get(&processes.rows, (uint64_t)task->pid, process_apart(task).i, &row);
		of[i] = of_row[row];
	}
	free(of_row);
	map_deinit(&processes.rows);
	vec_deinit(&processes.tasks);
	return of;
}

static thread_id add_unknown(struct perf_tasks *t)
{
	process_id process = builder_process(t->builder, -1, 0, STR("[unknown]"));

	return builder_thread(t->builder, -1, process, 0, STR("[unknown]"));
}

static label_set_id cpu_labels(struct perf_tasks *t, int64_t cpu)
{
	char text[24];

	if (cpu < 0)
		return (label_set_id){0};
	snprintf(text, sizeof(text), "%lld", (long long)cpu);
	return builder_label_set(t->builder,
		&(struct label){.key = builder_string(t->builder, STR("cpu")),
			.text = builder_string(t->builder, str_from(text))},
		1);
}

/* A task in the builder; labels: set 0, or that of its CPU. */
struct perf_task_ids {
	thread_id thread;
	label_set_id labels;
};

/*
 * Adds all of them to the builder, once.  The caller frees the array: [tasks.count], plus one for
 * samples without a thread if with_unknown.
 */
static struct perf_task_ids *perf_tasks_add(struct perf_tasks *t, bool with_unknown)
{
	struct task_ids known = {0};
	process_id *of = add_processes(t);
	struct perf_task_ids *ids = xcalloc(t->tasks.count + 1, sizeof(*ids));

	for (uint32_t i = 0; i < t->tasks.count; i++) {
		const struct perf_task *task = row_table_row(&t->tasks, &task_rows, i);

		ids[i] = (struct perf_task_ids){
			task_thread(&known, t->builder, of[i], task->tid, task->comm, task->comm),
			cpu_labels(t, task->cpu)};
	}
	free(of);
	if (with_unknown)
		ids[t->tasks.count].thread = add_unknown(t);
	task_ids_deinit(&known);
	return ids;
}

/* ---- stacks ---- */

/*
 * An inlined function precedes the function that contains its code, with the same address and
 * without a load object.  So paths are walked from the root, and frames are made on the way.
 * Addresses of callers are return addresses: the call is before them.
 */

enum { AS_LEAF, AS_CALLER };

/* Approximate memory per distinct line, and per distinct stack, in all tables. */
#define LINE_COST  260
#define STACK_COST 70
/* Memory for both with a small input, plus so many eighths of the input's size. */
#define COST_MIN     ((size_t)47 << 20)
#define COST_EIGHTHS 22

void perf_stacks_init(struct perf_stacks *s, struct builder *builder, size_t input_size)
{
	size_t stacks_max = (COST_MIN + COST_EIGHTHS * (input_size / 8)) / 2 / STACK_COST;

	*s = (struct perf_stacks){.builder = builder,
		.arena = arena_create(),
		.demangler = demangler_create(),
		.lines_max = (COST_MIN + COST_EIGHTHS * (input_size / 8)) / 2 / LINE_COST,
		.stacks_max = stacks_max < UINT32_MAX / 2 ? (uint32_t)stacks_max : UINT32_MAX / 2,
		.demangle_left = input_size + ((size_t)1 << 20)};
}

void perf_stacks_deinit(struct perf_stacks *s)
{
	demangler_destroy(s->demangler);
	arena_destroy(s->arena);
	row_table_deinit(&s->spans);
	row_table_deinit(&s->places);
	map_deinit(&s->placed);
	vec_deinit(&s->lines);
	vec_deinit(&s->path);
}

static string_id name_of(struct perf_stacks *s, struct str name)
{
	if (name.size == 0)
		name = STR("[unknown]");
	if (demangle_is_mangled(name) && s->demangle_left) {
		name = demangle(s->demangler, name);
		s->demangle_left -= name.size < s->demangle_left ? name.size : s->demangle_left;
	}
	return builder_string(s->builder, name);
}

static object_id object_of(struct perf_stacks *s, struct str name)
{
	if (name.size == 0)
		return (object_id){NO_ID};
	return builder_object(s->builder, name, STR(""), perf_dso_kind(name));
}

/*
 * Java agents put inlined functions into one symbol, "outer->inlined".  In other code, the arrow is
 * part of a name (operator->).
 */
static bool is_nested(const struct perf_frame *frame)
{
	return frame->object.size && perf_dso_kind(frame->object) == OBJECT_JIT &&
	       memmem(frame->name.data, frame->name.size, "->", 2) != NULL;
}

void perf_stacks_push_new(struct perf_stacks *s, struct span line, const struct perf_frame *frame)
{
	uint32_t number = (uint32_t)s->lines.count;

	if (s->lines.count >= s->lines_max) {
		s->is_cut = true;
		return;
	}
	vec_push(&s->lines, (struct perf_line){.name = name_of(s, frame->name),
				    .file = builder_string(s->builder, frame->file),
				    .line = frame->line,
				    .object = object_of(s, frame->object),
				    .address = frame->address,
				    .is_inline = frame->is_inline,
				    .is_nested = is_nested(frame),
				    .frame = {{NO_ID}, {NO_ID}}});
	/* Copies are close together; in the input, each would touch a separate page. */
	line.data = arena_str(s->arena, (struct str){line.data, line.size}).data;
	span_intern(&s->spans, line)->id = number;
	vec_push(&s->path, number);
}

bool perf_stacks_place(struct perf_stacks *s, struct str line)
{
	struct perf_frame frame = {0};
	bool added;

	if (s->path.count == 0 || !perf_frame_scan_place(line, &frame))
		return false;
	if (s->lines.count >= s->lines_max)
		return true;
	uint32_t *last = &s->path.data[s->path.count - 1];
	struct span *place = span_intern(&s->places, span_of(line));
	if (place->id == NO_ID)
		place->id = (uint32_t)s->places.count;
	uint32_t *placed = map_at(&s->placed, *last, place->id, (uint32_t)s->lines.count, &added);
	if (added) {
		struct perf_line copy = s->lines.data[*last];
		copy.file = builder_string(s->builder, frame.file);
		copy.line = frame.line;
		copy.is_inline |= frame.is_inline;
		copy.frame[AS_LEAF] = copy.frame[AS_CALLER] = (frame_id){NO_ID};
		vec_push(&s->lines, copy);
	}
	*last = *placed;
	return true;
}

/*
 * The number of lines at the path's start that make up the leaf: inlined functions and the function
 * that contains them.
 */
static size_t leaf_size(const struct perf_stacks *s)
{
	size_t i = 0;

	while (i < s->path.count && s->lines.data[s->path.data[i]].is_inline)
		i++;
	return i + 1;
}

static frame_id make_frame(struct perf_stacks *s, const struct perf_line *line, string_id name,
	object_id object, bool is_inline, int as)
{
	function_id function = builder_function(s->builder, name, object, (string_id){0}, 0);
	uint64_t address = line->address;

	if (as == AS_CALLER && address)
		address--;
	return builder_frame(s->builder, function, line->file, line->line, is_inline, address);
}

/*
 * The frame of a line with its code in that load object.  If the stack was truncated before the
 * containing function, is_inline is false, and the frame is not cached.
 */
static frame_id frame_of(
	struct perf_stacks *s, struct perf_line *line, object_id object, bool is_inline, int as)
{
	if (is_inline != line->is_inline)
		return make_frame(s, line, line->name, object, is_inline, as);
	if (line->framed_in.i != object.i)
		line->frame[AS_LEAF] = line->frame[AS_CALLER] = (frame_id){NO_ID};
	line->framed_in = object;
	if (line->frame[as].i == NO_ID)
		line->frame[as] = make_frame(s, line, line->name, object, is_inline, as);
	return line->frame[as];
}

/* Pushes each function in a nested name onto the stack. */
static stack_id push_nested(
	struct perf_stacks *s, stack_id stack, const struct perf_line *line, int as)
{
	struct str rest = builder_string_bytes(s->builder, line->name);
	bool is_inline = false;

	for (;;) {
		const char *arrow = memmem(rest.data, rest.size, "->", 2);
		size_t size = arrow ? (size_t)(arrow - rest.data) : rest.size;
		string_id name = builder_string(s->builder, (struct str){rest.data, size});
		if (size)
			stack = builder_stack(s->builder, stack,
				make_frame(s, line, name, line->object, is_inline, as));
		is_inline |= size > 0;
		if (arrow == NULL)
			return stack;
		rest = (struct str){arrow + 2, rest.size - size - 2};
	}
}

stack_id perf_stacks_take(struct perf_stacks *s)
{
	size_t leaf = leaf_size(s);
	object_id object = {NO_ID}; /* of the code that contains inlined functions */
	stack_id stack = {0};

	for (size_t i = s->path.count; i-- > 0;) {
		if (unlikely(stack.i > s->stacks_max)) {
			s->is_cut = true;
			break;
		}
		struct perf_line *line = &s->lines.data[s->path.data[i]];
		int as = i < leaf ? AS_LEAF : AS_CALLER;
		bool is_inline = line->is_inline && stack.i;

		if (!line->is_inline || line->object.i != NO_ID)
			object = line->object;
		if (line->is_nested)
			stack = push_nested(s, stack, line, as);
		else
			stack = builder_stack(
				s->builder, stack, frame_of(s, line, object, is_inline, as));
	}
	s->path.count = 0;
	s->cut += s->is_cut;
	s->is_cut = false;
	return stack;
}

/* ---- rows ---- */

void perf_rows_deinit(struct perf_rows *r)
{
	for (size_t i = 0; i < r->blocks.count; i++)
		free(r->blocks.data[i]);
	vec_deinit(&r->blocks);
	vec_deinit(&r->events);
	vec_deinit(&r->sources);
	map_deinit(&r->event_of_name);
	map_deinit(&r->source_of);
}

uint32_t perf_rows_event(struct perf_rows *r, struct str name)
{
	bool added;

	if (r->events.count && str_equal(name, r->last_name))
		return r->last_event;
	string_id id = builder_string(r->builder, name);
	uint32_t event = *map_at(&r->event_of_name, id.i, 0, (uint32_t)r->events.count, &added);

	if (added)
		vec_push(&r->events, (struct perf_event){.name = id});
	r->last_name = name;
	r->last_event = event;
	return event;
}

/* Memory per source, including its index entry. */
#define SOURCE_BYTES (sizeof(struct perf_source) + 4 * sizeof(struct map_slot))

static uint32_t source_of(struct perf_rows *r, uint32_t thread, uint32_t event)
{
	bool added;
	uint32_t source = *map_at(&r->source_of, thread, event, (uint32_t)r->sources.count, &added);

	if (added) {
		vec_push(&r->sources, (struct perf_source){.thread = thread, .event = event});
		builder_charge(r->builder, SOURCE_BYTES);
	}
	return source;
}

void perf_rows_add(struct perf_rows *r, const struct perf_sample *sample)
{
	struct perf_event *event = &r->events.data[sample->event];

	if (r->count % PERF_BLOCK_ROWS == 0) {
		vec_push(
			&r->blocks, xrealloc_array(NULL, PERF_BLOCK_ROWS, sizeof(struct perf_row)));
		builder_charge(r->builder, PERF_BLOCK_ROWS * sizeof(struct perf_row));
	}
	if (sample->time_ns == UINT64_MAX)
		r->without_time++;
	else if (r->count == r->without_time || sample->time_ns < r->first_ns)
		r->first_ns = sample->time_ns;
	if (sample->time_ns != UINT64_MAX && sample->time_ns > r->last_ns)
		r->last_ns = sample->time_ns;
	r->without_thread += sample->thread == NO_ID;
	event->has_period |= sample->period != UINT64_MAX;
	event->samples++;
	r->blocks.data[r->blocks.count - 1][r->count % PERF_BLOCK_ROWS] =
		(struct perf_row){.time_ns = sample->time_ns,
			.period = sample->period,
			.stack = sample->stack,
			.source = source_of(r, sample->thread, sample->event)};
	if (sample->stack.i > r->last_stack)
		r->last_stack = sample->stack.i;
	r->count++;
}

/*
 * Whether an event's periods are nanoseconds: perf's clocks, and the metrics of sonde's recordings.
 */
static bool counts_ns(struct str event)
{
	static const char *const clocks[] = {
		"cpu-clock", "task-clock", "offcpu-time", "cpu-time", "real-time", "blocked-time"};
	const char *colon = memchr(event.data, ':', event.size);

	if (colon)
		event.size = (size_t)(colon - event.data);
	for (size_t i = 0; i < ARRAY_SIZE(clocks); i++)
		if (str_equal(event, str_from(clocks[i])))
			return true;
	return false;
}

/*
 * The metric of an event: the number of samples if it has no name, or if nothing else is measured.
 */
static metric_id add_metric(struct perf_rows *r, const struct perf_event *event, metric_id samples)
{
	struct str name = builder_string_bytes(r->builder, event->name);

	if (name.size == 0 || (r->events.count == 1 && !event->has_period))
		return samples;
	return builder_metric(
		r->builder, name, event->has_period && counts_ns(name) ? STR("ns") : STR("count"));
}

/*
 * The number of events that memory suffices for: each has a weight for every sample and every
 * stack.
 */
static size_t events_max(const struct perf_rows *r, size_t input_size)
{
	uint64_t weights = r->count + r->last_stack + 1;
	uint64_t most = (((uint64_t)32 << 20) + 2 * (uint64_t)input_size) / 8 / weights;

	return most < 1 ? 1 : most < r->events.count ? (size_t)most : r->events.count;
}

/* [event]: its metric; the caller frees the array.  The first event's is the default. */
static metric_id *add_metrics(struct perf_rows *r, metric_id samples, size_t count)
{
	metric_id *metric_of = xcalloc(count, sizeof(*metric_of));

	for (size_t i = 0; i < count; i++)
		metric_of[i] = add_metric(r, &r->events.data[i], samples);
	builder_header(r->builder)->default_metric = metric_of[0];
	return metric_of;
}

struct finishing {
	const struct perf_rows *rows;
	const struct perf_task_ids *tasks; /* NULL: unknown */
	uint32_t task_count;
	bool has_times;
	metric_id samples;
	const metric_id *metric_of;
	size_t event_count; /* number of events kept */
	uint64_t left_out;
	uint64_t too_large; /* samples whose period does not fit into a weight */
	int64_t *weight;    /* [metric]; all 0 between samples */
};

/*
 * The weight of a sample is its period.  More than 63 bits cannot be a real count, and would
 * overflow or dwarf the sum of all others.
 */
static int64_t weight_of(struct finishing *f, uint64_t period)
{
	if (period == UINT64_MAX)
		return 1;
	if (period > INT64_MAX) {
		f->too_large++;
		return 0;
	}
	return (int64_t)period;
}

static void finish_row(struct finishing *f, const struct perf_row *row)
{
	const struct perf_source *source = &f->rows->sources.data[row->source];
	if (source->event >= f->event_count) {
		f->left_out++;
		return;
	}
	metric_id metric = f->metric_of[source->event];
	struct perf_task_ids task = {.thread = {NO_ID}};
	struct builder *b = f->rows->builder;

	if (f->tasks)
		task = f->tasks[source->thread == NO_ID ? f->task_count : source->thread];

	f->weight[f->samples.i] = 1;
	f->weight[metric.i] = weight_of(f, row->period);
	if (f->tasks == NULL && !f->has_times)
		builder_weight(b, row->stack, f->weight, (uint64_t)f->weight[f->samples.i]);
	else
		builder_sample(b, row->stack, task.thread,
			f->has_times ? builder_time(row->time_ns - f->rows->first_ns) : UINT64_MAX,
			f->weight);
	if (task.labels.i)
		builder_sample_labels(b, task.labels);
	f->weight[metric.i] = 0;
}

/*
 * Adds the rows to the builder and frees them block by block, so that they are never in memory
 * twice.
 */
static void finish_rows(struct perf_rows *r, struct finishing *f)
{
	for (size_t i = 0; i < r->blocks.count; i++) {
		uint64_t left = r->count - i * PERF_BLOCK_ROWS;
		size_t count = left < PERF_BLOCK_ROWS ? (size_t)left : PERF_BLOCK_ROWS;

		for (size_t k = 0; k < count; k++)
			finish_row(f, &r->blocks.data[i][k]);
		free(r->blocks.data[i]);
		r->blocks.data[i] = NULL;
	}
}

void perf_rows_finish(struct perf_rows *r, struct perf_tasks *tasks, size_t input_size)
{
	size_t event_count = events_max(r, input_size);
	metric_id samples = builder_metric(r->builder, STR("samples"), STR("count"));
	metric_id *metric_of = add_metrics(r, samples, event_count);
	bool has_threads = r->without_thread < r->count;
	struct perf_task_ids *ids =
		has_threads ? perf_tasks_add(tasks, r->without_thread > 0) : NULL;
	struct finishing f = {.rows = r,
		.tasks = ids,
		.task_count = (uint32_t)tasks->tasks.count,
		/* If all times are zero, the text has no times. */
		.has_times = r->without_time == 0 && r->last_ns > 0,
		.samples = samples,
		.metric_of = metric_of,
		.event_count = event_count,
		.weight = xcalloc(r->events.count + 1, sizeof(*f.weight))};

	if (has_threads || f.has_times)
		builder_expect_samples(r->builder, r->count);
	if (r->without_time < r->count)
		counted_note(r->builder, NOTE_INFO, r->without_time,
			"a sample has no time; so that of the others is left out",
			"samples have no time; so that of the others is left out");
	finish_rows(r, &f);
	if (f.left_out)
		builder_note(r->builder, NOTE_LOST, f.left_out,
			"samples are of more events than there is memory for, and left out");
	if (f.too_large)
		builder_note(r->builder, NOTE_BAD_RECORD, f.too_large,
			"samples have a period of 2^63 or more; they are counted and weigh "
			"nothing");
	free(f.weight);
	free(ids);
	free(metric_of);
}
