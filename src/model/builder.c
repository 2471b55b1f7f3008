/*
 * Builds a profile: interns rows into tables, sums weights onto stacks, and at the end hands the
 * tables' memory to the profile's arena as it is, without a copy.
 *
 * Whether a sum fits is decided on absolute values, so it does not depend on the order of calls and
 * no partial sum can overflow either.
 */
#include "model/builder.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/row_table.h"
#include "base/vec.h"
#include "model/arc_table.h"
#include "model/budget.h"
#include "model/label_tables.h"
#include "model/row_kinds.h"
#include "model/stack_table.h"
#include "model/zone_tables.h"

/* One metric's weights as they come in. */
struct column {
	VEC(int64_t) of_stack; /* as long as the last stack that has one needs, or longer */
	VEC(int64_t) of_sample;
	uint64_t absolute_sum; /* of all that was added; stays at UINT64_MAX */
};

struct builder {
	struct arena *arena;
	struct budget budget; /* as much as there is, unless there is an input */
	uint64_t stack_price; /* with its weights */
	bool has_input;
	struct str_table strings;
	struct row_table objects, functions, frames, metrics, processes, threads, notes;
	uint32_t frame_before; /* what builder_frame gave last */
	struct arc_table arcs;
	struct stack_table stacks;
	struct column *columns;		/* [metric], made with the first weight */
	VEC(uint64_t) samples_of_stack; /* as long as the last stack that has one needs */
	bool samples_unknown, has_weights;
	uint64_t samples_sum; /* stays at UINT64_MAX */
	VEC(stack_id) sample_stack;
	VEC(thread_id) sample_thread;
	VEC(uint64_t) sample_time;
	VEC(stack_id) sample_zone; /* as long as the last sample that has one needs */
	struct label_tables labels;
	VEC(label_id) label_ids; /* of one set, while it is made */
	struct zone_tables zones;
	/* What stands for all that there was no room for; NO_ID, SIZE_MAX: none so far. */
	process_id process_left_out;
	thread_id thread_left_out;
	size_t sample_left_out;
	bool is_left_out; /* the sample that came last */
	struct builder_header header;
};

static const struct profile_stats stats_unknown = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX,
	UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};

struct builder *builder_create(void)
{
	struct builder *b = xalloc(sizeof(*b));

	b->arena = arena_create();
	str_table_init(&b->strings, b->arena);
	(void)str_table_intern(&b->strings, STR(""));
	stack_table_init(&b->stacks);
	label_tables_init(&b->labels, &b->budget);
	b->budget.left = UINT64_MAX;
	b->stack_price = BUDGET_STACK_BYTES;
	b->process_left_out.i = b->thread_left_out.i = NO_ID;
	b->sample_left_out = SIZE_MAX;
	b->frame_before = b->arcs.before = UINT32_MAX;
	b->header.stats = stats_unknown;
	b->header.has_stacks = true;
	return b;
}

static void columns_destroy(struct builder *b)
{
	for (size_t m = 0; b->columns && m < b->metrics.count; m++) {
		vec_deinit(&b->columns[m].of_stack);
		vec_deinit(&b->columns[m].of_sample);
	}
	free(b->columns);
	b->columns = NULL;
}

void builder_destroy(struct builder *b)
{
	if (b == NULL)
		return;
	columns_destroy(b);
	struct row_table *tables[] = {&b->objects, &b->functions, &b->frames, &b->metrics,
		&b->processes, &b->threads, &b->notes};
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		row_table_deinit(tables[i]);
	arc_table_deinit(&b->arcs);
	stack_table_deinit(&b->stacks);
	vec_deinit(&b->samples_of_stack);
	vec_deinit(&b->sample_stack);
	vec_deinit(&b->sample_thread);
	vec_deinit(&b->sample_time);
	vec_deinit(&b->sample_zone);
	label_tables_deinit(&b->labels);
	vec_deinit(&b->label_ids);
	zone_tables_deinit(&b->zones);
	str_table_deinit(&b->strings);
	arena_destroy(b->arena);
	free(b);
}

metric_id builder_metric(struct builder *b, struct str name, struct str unit)
{
	struct metric m = {.name = builder_string(b, name), .unit = builder_string(b, unit)};
	size_t before = b->metrics.count;
	metric_id id = {row_table_intern(&b->metrics, &metric_rows, &m)};

	assert(b->columns == NULL || b->metrics.count == before);
	if (b->metrics.count > before)
		budget_take(&b->budget, 8 * stack_table_count(&b->stacks));
	/* Of each metric, and how many samples. */
	b->stack_price = BUDGET_STACK_BYTES + 8 * (b->metrics.count + 1);
	return id;
}

/* One that there is always room for. */
static string_id string_of_ours(struct builder *b, struct str s)
{
	return (string_id){str_table_intern(&b->strings, s)};
}

/* ---- What stands for rows that there is no room for */

static string_id name_left_out(struct builder *b)
{
	return string_of_ours(b, STR("[left out]"));
}

static object_id object_left_out(struct builder *b)
{
	struct object o = {.path = name_left_out(b), .kind = OBJECT_UNKNOWN};

	return (object_id){row_table_intern(&b->objects, &object_rows, &o)};
}

static function_id function_left_out(struct builder *b)
{
	struct function f = {.name = name_left_out(b), .object = {NO_ID}};

	return (function_id){row_table_intern(&b->functions, &function_rows, &f)};
}

static frame_id frame_left_out(struct builder *b)
{
	struct frame f = {.function = function_left_out(b)};

	return (frame_id){row_table_intern(&b->frames, &frame_rows, &f)};
}

static stack_id stack_left_out(struct builder *b)
{
	return stack_table_intern(&b->stacks, (stack_id){0}, frame_left_out(b));
}

static process_id process_left_out(struct builder *b)
{
	struct process p = {.pid = -1, .name = name_left_out(b)};

	if (b->process_left_out.i == NO_ID)
		b->process_left_out.i = row_table_push(&b->processes, &process_rows, &p);
	return b->process_left_out;
}

static thread_id thread_left_out(struct builder *b)
{
	struct thread t = {.tid = -1, .process = process_left_out(b), .name = name_left_out(b)};

	if (b->thread_left_out.i == NO_ID)
		b->thread_left_out.i = row_table_push(&b->threads, &thread_rows, &t);
	return b->thread_left_out;
}

/* ---- */

void builder_answer_for(struct builder *b, uint64_t input_bytes)
{
	if (!b->has_input)
		b->budget.left = BUDGET_FREE_BYTES;
	b->has_input = true;
	if (input_bytes > (UINT64_MAX - b->budget.left) / BUDGET_RATIO)
		b->budget.left = UINT64_MAX;
	else
		b->budget.left += BUDGET_RATIO * input_bytes;
}

void builder_charge(struct builder *b, uint64_t bytes)
{
	budget_take(&b->budget, bytes);
}

bool builder_has_room(const struct builder *b, uint64_t bytes)
{
	return budget_has(&b->budget, bytes);
}

static bool refuse(struct builder *b, enum budget_row row)
{
	b->budget.refused[row]++;
	return false;
}

/* Whether there is room for one row more, which is paid for then, or counted. */
static bool pay(struct builder *b, enum budget_row row, uint64_t price)
{
	if (!budget_has(&b->budget, price))
		return refuse(b, row);
	budget_take(&b->budget, price);
	return true;
}

string_id builder_string(struct builder *b, struct str s)
{
	uint64_t price = BUDGET_NAME_BYTES + (uint64_t)s.size;
	size_t before = b->strings.count;
	string_id id;

	if (s.size == 0)
		return (string_id){0};
	if (unlikely(!budget_has(&b->budget, price))) {
		if (str_table_find(&b->strings, s, &id.i))
			return id;
		(void)refuse(b, BUDGET_NAME);
		return name_left_out(b);
	}
	id = string_of_ours(b, s);
	if (b->strings.count > before)
		budget_take(&b->budget, price);
	return id;
}

struct str builder_string_bytes(const struct builder *b, string_id id)
{
	assert(id.i < b->strings.count);
	return b->strings.strings[id.i];
}

/* The number of the row, which is paid for if it is new; false: there is no room for it. */
static inline bool intern(struct builder *b, enum budget_row kind_of_row, uint64_t price,
	struct row_table *t, const struct row_kind *kind, const void *row, uint32_t *number)
{
	size_t before = t->count;

	if (unlikely(!budget_has(&b->budget, price)))
		return row_table_find(t, kind, row, number) || refuse(b, kind_of_row);
	*number = row_table_intern(t, kind, row);
	if (t->count > before)
		budget_take(&b->budget, price);
	return true;
}

object_id builder_object(
	struct builder *b, struct str path, struct str build_id, enum object_kind kind)
{
	struct object o = {.path = builder_string(b, path),
		.build_id = builder_string(b, build_id),
		.kind = kind};
	object_id id;

	if (intern(b, BUDGET_OBJECT, BUDGET_OBJECT_BYTES, &b->objects, &object_rows, &o, &id.i))
		return id;
	return object_left_out(b);
}

function_id builder_function(
	struct builder *b, string_id name, object_id object, string_id file, uint32_t line)
{
	struct function f = {.name = name, .object = object, .file = file, .line = line};
	function_id id;

	if (intern(b, BUDGET_FUNCTION, BUDGET_FUNCTION_BYTES, &b->functions, &function_rows, &f,
		    &id.i))
		return id;
	return function_left_out(b);
}

/* Frames come again, mostly, in the order in which they came first: the next one is tried first. */
static inline frame_id frame_intern(struct builder *b, const struct frame *f, uint64_t price)
{
	frame_id id = {b->frame_before + 1};

	if (id.i >= b->frames.count || !frame_same(row_table_row(&b->frames, &frame_rows, id.i), f))
		if (!intern(b, BUDGET_FRAME, price, &b->frames, &frame_rows, f, &id.i))
			id = frame_left_out(b);
	b->frame_before = id.i;
	return id;
}

frame_id builder_frame(struct builder *b, function_id function, string_id file, uint32_t line,
	bool is_inline, uint64_t obj_addr)
{
	struct frame f = {.function = function,
		.file = file,
		.line = line,
		.is_inline = is_inline,
		.obj_addr = obj_addr};

	return frame_intern(b, &f, BUDGET_FRAME_BYTES);
}

/* Where there is no room for a new one. */
static stack_id stack_known(struct builder *b, stack_id parent, frame_id frame)
{
	stack_id known = stack_table_find(&b->stacks, parent, frame);

	if (known.i)
		return known;
	/* A frame that is left out itself is told already. */
	if (parent.i == 0 && frame.i == frame_left_out(b).i)
		return stack_left_out(b);
	(void)refuse(b, BUDGET_STACK);
	return parent.i ? parent : stack_left_out(b);
}

struct str builder_frame_name(const struct builder *b, frame_id frame)
{
	assert(frame.i < b->frames.count);
	const struct frame *f = row_table_row(&b->frames, &frame_rows, frame.i);
	const struct function *function =
		row_table_row(&b->functions, &function_rows, f->function.i);

	return builder_string_bytes(b, function->name);
}

stack_id builder_stack(struct builder *b, stack_id parent, frame_id frame)
{
	size_t before = stack_table_count(&b->stacks);

	assert(parent.i < before && frame.i < b->frames.count);
	if (unlikely(!budget_has(&b->budget, b->stack_price)))
		return stack_known(b, parent, frame);
	stack_id stack = stack_table_intern(&b->stacks, parent, frame);
	if (stack.i == before)
		budget_take(&b->budget, b->stack_price);
	return stack;
}

size_t builder_stack_path(struct builder *b, stack_id parent, const frame_id *frames, size_t count,
	size_t new_max, stack_id *stacks)
{
	assert(parent.i < stack_table_count(&b->stacks));
	for (size_t i = 0; i < count; i++)
		assert(frames[i].i < b->frames.count);
	uint64_t room = b->budget.left / b->stack_price;
	size_t before = stack_table_count(&b->stacks);
	size_t found = stack_table_path(
		&b->stacks, parent, frames, count, new_max < room ? new_max : (size_t)room, stacks);

	budget_take(&b->budget, b->stack_price * (stack_table_count(&b->stacks) - before));
	return found;
}

stack_id builder_stack_parent(const struct builder *b, stack_id stack)
{
	assert(stack.i < stack_table_count(&b->stacks));
	return stack_table_stack(&b->stacks, stack).parent;
}

function_id builder_stack_function(const struct builder *b, stack_id stack)
{
	if (stack.i == 0)
		return (function_id){NO_ID};
	frame_id frame = stack_table_stack(&b->stacks, stack).frame;
	const struct frame *f = row_table_row(&b->frames, &frame_rows, frame.i);

	return f->function;
}

process_id builder_process(struct builder *b, int64_t pid, uint64_t start_ns, struct str name)
{
	if (!pay(b, BUDGET_THREAD, BUDGET_THREAD_BYTES))
		return process_left_out(b);
	struct process p = {.pid = pid, .start_ns = start_ns, .name = builder_string(b, name)};

	return (process_id){row_table_push(&b->processes, &process_rows, &p)};
}

thread_id builder_thread(
	struct builder *b, int64_t tid, process_id process, uint64_t start_ns, struct str name)
{
	if (!pay(b, BUDGET_THREAD, BUDGET_THREAD_BYTES))
		return thread_left_out(b);
	struct thread t = {.tid = tid,
		.process = process,
		.name = builder_string(b, name),
		.start_ns = start_ns};

	return (thread_id){row_table_push(&b->threads, &thread_rows, &t)};
}

static void add_saturating(uint64_t *sum, uint64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum))
		*sum = UINT64_MAX;
}

/* Wraps where the absolute sum is past 63 bits; builder_finish refuses that profile. */
static void add_wrapping(int64_t *sum, int64_t more)
{
	*sum = (int64_t)((uint64_t)*sum + (uint64_t)more);
}

static uint64_t magnitude(int64_t weight)
{
	return weight < 0 ? 0 - (uint64_t)weight : (uint64_t)weight;
}

static void columns_ensure(struct builder *b)
{
	if (b->columns == NULL)
		b->columns = xcalloc(b->metrics.count, sizeof(*b->columns));
}

void builder_arc(struct builder *b, function_id caller, function_id callee, uint64_t calls)
{
	(void)builder_arc_cost(b, caller, callee, calls, NULL);
}

uint32_t builder_arc_cost(struct builder *b, function_id caller, function_id callee, uint64_t calls,
	const int64_t *cost)
{
	assert(callee.i < b->functions.count &&
		(caller.i == NO_ID || caller.i < b->functions.count));
	uint64_t price = BUDGET_ARC_BYTES + (cost ? 16 * b->metrics.count : 0);
	size_t before = b->arcs.arcs.count;

	if (cost)
		columns_ensure(b);
	if (unlikely(!budget_has(&b->budget, price)) && !arc_table_has(&b->arcs, caller, callee)) {
		(void)refuse(b, BUDGET_ARC);
		caller = callee = function_left_out(b);
	}
	uint32_t arc = arc_table_add(&b->arcs, caller, callee, calls, cost, b->metrics.count);
	if (b->arcs.arcs.count > before)
		budget_take(&b->budget, price);
	return arc;
}

/* Makes v at least count long, the new part zero. */
#define vec_extend(v, total)                                                                       \
	do {                                                                                       \
		size_t extend_to_ = (total);                                                       \
		if (extend_to_ <= (v)->count)                                                      \
			break;                                                                     \
		vec_reserve((v), extend_to_);                                                      \
		memset((v)->data + (v)->count, 0, (extend_to_ - (v)->count) * sizeof(*(v)->data)); \
		(v)->count = extend_to_;                                                           \
	} while (0)

/* Stacks that columns grow by at the least, so that not every new one makes each of them grow. */
#define WEIGHTS_MORE 64

/* Makes the columns long enough for that stack. */
static void weights_extend(struct builder *b, stack_id stack)
{
	for (size_t m = 0; m < b->metrics.count; m++)
		vec_extend(&b->columns[m].of_stack, (size_t)stack.i + WEIGHTS_MORE);
}

static inline void weights_add(struct builder *b, stack_id stack, const int64_t *weight)
{
	columns_ensure(b);
	if (unlikely(stack.i >= b->columns[0].of_stack.count))
		weights_extend(b, stack);
	for (size_t m = 0, count = b->metrics.count; m < count; m++) {
		struct column *c = &b->columns[m];

		add_saturating(&c->absolute_sum, magnitude(weight[m]));
		add_wrapping(&c->of_stack.data[stack.i], weight[m]);
	}
}

static void stack_samples_add(struct builder *b, stack_id stack, uint64_t samples)
{
	vec_extend(&b->samples_of_stack, (size_t)stack.i + 1);
	add_saturating(&b->samples_of_stack.data[stack.i], samples);
	add_saturating(&b->samples_sum, samples);
}

void builder_weight(struct builder *b, stack_id stack, const int64_t *weight, uint64_t samples)
{
	assert(stack.i < stack_table_count(&b->stacks) && b->sample_stack.count == 0);
	b->has_weights = true;
	weights_add(b, stack, weight);
	if (samples == UINT64_MAX)
		b->samples_unknown = true;
	else if (!b->samples_unknown)
		stack_samples_add(b, stack, samples);
}

frame_id builder_place(struct builder *b, const struct frame *frame, const int64_t *weight)
{
	frame_id id = frame_intern(b, frame, BUDGET_FRAME_BYTES + b->stack_price);
	stack_id stack = {id.i + 1};

	if (stack.i == stack_table_count(&b->stacks))
		(void)stack_table_push(&b->stacks, (stack_id){0}, id);
	assert(stack.i < stack_table_count(&b->stacks) && b->sample_stack.count == 0);
	b->has_weights = b->samples_unknown = true;
	weights_add(b, stack, weight);
	return id;
}

static void push_sample(struct builder *b, stack_id stack, thread_id thread, uint64_t time_ns,
	const int64_t *weight)
{
	for (size_t m = 0; m < b->metrics.count; m++)
		vec_push(&b->columns[m].of_sample, weight[m]);
	/* A column that begins late would belong to the wrong samples. */
	if (thread.i != NO_ID) {
		assert(b->sample_thread.count == b->sample_stack.count);
		vec_push(&b->sample_thread, thread);
	}
	if (time_ns != UINT64_MAX) {
		assert(b->sample_time.count == b->sample_stack.count);
		vec_push(&b->sample_time, time_ns);
	}
	vec_push(&b->sample_stack, stack);
}

/* Into the one sample that stands for all that there is no room for. */
static void sum_sample(struct builder *b, thread_id thread, uint64_t time_ns, const int64_t *weight)
{
	size_t i = b->sample_left_out;

	if (i == SIZE_MAX) {
		b->sample_left_out = b->sample_stack.count;
		push_sample(b, stack_left_out(b), thread, time_ns, weight);
		return;
	}
	for (size_t m = 0; m < b->metrics.count; m++)
		add_wrapping(&b->columns[m].of_sample.data[i], weight[m]);
}

void builder_sample(struct builder *b, stack_id stack, thread_id thread, uint64_t time_ns,
	const int64_t *weight)
{
	assert(stack.i < stack_table_count(&b->stacks) && !b->has_weights);
	columns_ensure(b);
	for (size_t m = 0; m < b->metrics.count; m++)
		add_saturating(&b->columns[m].absolute_sum, magnitude(weight[m]));
	b->is_left_out = !pay(b, BUDGET_SAMPLE, BUDGET_SAMPLE_BYTES + 8 * b->metrics.count);
	if (unlikely(b->is_left_out))
		sum_sample(b, thread, time_ns, weight);
	else
		push_sample(b, stack, thread, time_ns, weight);
}

void builder_expect_samples(struct builder *b, size_t count)
{
	size_t total = b->sample_stack.count + count;

	columns_ensure(b);
	for (size_t m = 0; m < b->metrics.count; m++)
		vec_reserve(&b->columns[m].of_sample, total);
	vec_reserve(&b->sample_thread, total);
	vec_reserve(&b->sample_time, total);
	vec_reserve(&b->sample_stack, total);
}

void builder_sample_zone(struct builder *b, stack_id zone)
{
	assert(b->sample_stack.count && zone.i < stack_table_count(&b->stacks));
	if (b->is_left_out)
		return;
	vec_extend(&b->sample_zone, b->sample_stack.count);
	b->sample_zone.data[b->sample_stack.count - 1] = zone;
}

label_id builder_label(struct builder *b, const struct label *label)
{
	assert(label->key.i < b->strings.count && label->text.i < b->strings.count &&
		label->unit.i < b->strings.count);
	if (label_tables_takes(&b->labels, label))
		return label_tables_label(&b->labels, label);
	struct label left_out = {.key = name_left_out(b), .text = name_left_out(b)};

	(void)refuse(b, BUDGET_LABEL);
	return label_tables_label(&b->labels, &left_out);
}

label_set_id builder_label_set(struct builder *b, const struct label *labels, size_t count)
{
	b->label_ids.count = 0;
	for (size_t i = 0; i < count; i++)
		vec_push(&b->label_ids, builder_label(b, &labels[i]));
	return label_tables_set(&b->labels, b->label_ids.data, count);
}

label_set_id builder_label_set_of(struct builder *b, const label_id *labels, size_t count)
{
	return label_tables_set(&b->labels, labels, count);
}

label_set_id builder_label_set_with(struct builder *b, label_set_id set, label_id label)
{
	return label_tables_with(&b->labels, set, label);
}

void builder_sample_labels(struct builder *b, label_set_id set)
{
	assert(b->sample_stack.count && set.i < b->labels.sets.count);
	if (b->is_left_out || (set.i == 0 && b->labels.of_sample.count < b->sample_stack.count))
		return;
	vec_extend(&b->labels.of_sample, b->sample_stack.count);
	b->labels.of_sample.data[b->sample_stack.count - 1] = set;
}

void builder_tick(struct builder *b, process_id process, string_id stream, uint64_t number,
	uint64_t start_ns, uint64_t end_ns)
{
	assert(process.i < b->processes.count && stream.i < b->strings.count);
	if (end_ns < start_ns)
		end_ns = start_ns;
	if (pay(b, BUDGET_EVENT, BUDGET_EVENT_BYTES))
		zone_tables_tick(
			&b->zones, (struct tick){process, stream, number, start_ns, end_ns});
}

void builder_zone_event(struct builder *b, thread_id thread, uint64_t time_ns, stack_id stack)
{
	assert(thread.i < b->threads.count && stack.i < stack_table_count(&b->stacks));
	if (pay(b, BUDGET_EVENT, BUDGET_EVENT_BYTES))
		zone_tables_event(&b->zones, thread, time_ns, stack);
}

/* Whether there may be a further note, of that text. */
static bool takes_note(const struct builder *b, struct str text)
{
	uint32_t known;

	return !b->has_input || b->notes.count < BUDGET_NOTES_MAX ||
	       str_table_find(&b->strings, text, &known);
}

void builder_note(struct builder *b, enum note_kind kind, uint64_t count, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	char *text = xvasprintf(format, args);
	va_end(args);
	if (takes_note(b, str_from(text))) {
		struct note n = {.kind = kind, .text = string_of_ours(b, str_from(text))};
		uint32_t row = row_table_intern(&b->notes, &note_rows, &n);
		add_saturating(&((struct note *)b->notes.rows)[row].count, count);
	} else {
		(void)refuse(b, BUDGET_NOTE);
	}
	free(text);
}

/* What there was no room for. */
static void note_refused(struct builder *b)
{
	b->has_input = false;
	for (enum budget_row row = 0; row < BUDGET_ROW_COUNT; row++)
		if (b->budget.refused[row])
			builder_note(b, NOTE_TRUNCATED, b->budget.refused[row], "%s",
				budget_sentence(row));
}

struct builder_header *builder_header(struct builder *b)
{
	return &b->header;
}

static struct error *check_sums(const struct builder *b)
{
	if (b->metrics.count == 0)
		return error_new(ERROR_INPUT, "no metric is measured");
	for (size_t m = 0; b->columns && m < b->metrics.count; m++) {
		bool is_arcs = b->columns[m].absolute_sum <= INT64_MAX;
		if (is_arcs && arc_table_costs_fit(&b->arcs, m))
			continue;
		const struct metric *metric = row_table_row(&b->metrics, &metric_rows, (uint32_t)m);
		return error_new(ERROR_INPUT, "the sum of '%s'%s exceeds 64 bits",
			b->strings.strings[metric->name.i].data, is_arcs ? " along calls" : "");
	}
	if (!b->samples_unknown && b->samples_sum > INT64_MAX)
		return error_new(ERROR_INPUT, "the number of samples exceeds 64 bits");
	if (!arc_table_calls_fit(&b->arcs))
		return error_new(ERROR_INPUT, "the number of calls exceeds 64 bits");
	return NULL;
}

/* The samples' weights in the metric that counts them, or NULL. */
static const int64_t *sample_counts(const struct builder *b)
{
	for (size_t m = 0; m < b->metrics.count; m++) {
		const struct metric *metric = row_table_row(&b->metrics, &metric_rows, (uint32_t)m);

		if (metric_counts_samples(
			    b->strings.strings[metric->name.i], b->strings.strings[metric->unit.i]))
			return b->columns[m].of_sample.data;
	}
	return NULL;
}

/* Puts the samples' weights onto the stacks they end in.  The sums were found to fit. */
static void sum_samples(struct builder *b)
{
	const stack_id *stack = b->sample_stack.data;
	size_t count = b->sample_stack.count, stacks = stack_table_count(&b->stacks);

	for (size_t m = 0; m < b->metrics.count; m++) {
		struct column *c = &b->columns[m];
		const int64_t *weight = c->of_sample.data;
		vec_extend(&c->of_stack, stacks);
		int64_t *sum = c->of_stack.data;
		for (size_t i = 0; i < count; i++)
			add_wrapping(&sum[stack[i].i], weight[i]);
	}
	const int64_t *counts = sample_counts(b);

	vec_extend(&b->samples_of_stack, stacks);
	uint64_t *samples = b->samples_of_stack.data, all = 0;
	for (size_t i = 0; i < count; i++) {
		uint64_t n = sample_count(counts ? &counts[i] : NULL);
		samples[stack[i].i] += n;
		all += n;
	}
	add_saturating(&b->samples_sum, all);
}

/* Shrinks a growing array to its count and makes the arena its owner; NULL if it is empty. */
static void *adopt(struct arena *arena, void *data, size_t count, size_t size)
{
	if (count == 0) {
		free(data);
		return NULL;
	}
	data = xrealloc_array(data, count, size);
	arena_adopt(arena, data, count * size);
	return data;
}

#define adopt_vec(arena, v) adopt((arena), (v)->data, (v)->count, sizeof(*(v)->data))
/* Forgets memory that the arena owns now. */
#define vec_forget(v) ((v)->data = NULL, (v)->count = (v)->capacity = 0)

static const void *adopt_table(
	struct profile *p, struct row_table *t, const struct row_kind *kind, size_t *count)
{
	*count = t->count;
	void *rows = row_table_take(t, kind);
	arena_adopt(p->arena, rows, *count * kind->size);
	return rows;
}

static void freeze_strings(struct builder *b, struct profile *p)
{
	p->string_count = b->strings.count;
	p->strings = adopt(p->arena, b->strings.strings, p->string_count, sizeof(*p->strings));
	b->strings.strings = NULL;
	b->strings.count = 0;
}

static void freeze_samples(struct builder *b, struct profile *p)
{
	struct samples *s = &p->samples;
	size_t metrics = p->metric_count;

	s->count = b->sample_stack.count;
	assert(b->sample_thread.count == 0 || b->sample_thread.count == s->count);
	assert(b->sample_time.count == 0 || b->sample_time.count == s->count);
	s->stack = adopt_vec(p->arena, &b->sample_stack);
	s->thread = adopt_vec(p->arena, &b->sample_thread);
	s->time_ns = adopt_vec(p->arena, &b->sample_time);
	if (b->sample_zone.count)
		vec_extend(&b->sample_zone, s->count);
	s->zone = adopt_vec(p->arena, &b->sample_zone);
	vec_forget(&b->sample_stack);
	vec_forget(&b->sample_thread);
	vec_forget(&b->sample_time);
	vec_forget(&b->sample_zone);
	if (s->count == 0)
		return;
	s->weight = ARENA_ARRAY(p->arena, int64_t *, metrics);
	for (size_t m = 0; m < metrics; m++) {
		s->weight[m] = adopt_vec(p->arena, &b->columns[m].of_sample);
		vec_forget(&b->columns[m].of_sample);
	}
}

static void freeze_weights(struct builder *b, struct profile *p)
{
	const int64_t **weight = ARENA_ARRAY(p->arena, const int64_t *, p->metric_count);
	int64_t *total = ARENA_ARRAY(p->arena, int64_t, p->metric_count);

	columns_ensure(b);
	for (size_t m = 0; m < p->metric_count; m++) {
		struct column *c = &b->columns[m];
		vec_extend(&c->of_stack, p->stack_count);
		c->of_stack.count = p->stack_count;
		for (size_t i = 0; i < p->stack_count; i++)
			total[m] += c->of_stack.data[i];
		weight[m] = adopt_vec(p->arena, &c->of_stack);
		vec_forget(&c->of_stack);
	}
	p->stack_weight = weight;
	p->total = total;
	if (b->samples_unknown)
		return;
	vec_extend(&b->samples_of_stack, p->stack_count);
	p->stack_samples = adopt_vec(p->arena, &b->samples_of_stack);
	vec_forget(&b->samples_of_stack);
	b->header.stats.counted = b->samples_sum;
}

static uint32_t depth_max(const struct stack *stacks, size_t count)
{
	uint32_t *depth = xrealloc_array(NULL, count, sizeof(*depth));
	uint32_t most = 0;

	depth[0] = 0;
	for (size_t i = 1; i < count; i++) {
		depth[i] = depth[stacks[i].parent.i] + 1;
		if (depth[i] > most)
			most = depth[i];
	}
	free(depth);
	return most;
}

/* Columns of builder_destroy's loop go by the metric table, so that one is taken last. */
static void freeze_tables(struct builder *b, struct profile *p)
{
	p->objects = adopt_table(p, &b->objects, &object_rows, &p->object_count);
	p->functions = adopt_table(p, &b->functions, &function_rows, &p->function_count);
	p->frames = adopt_table(p, &b->frames, &frame_rows, &p->frame_count);
	p->stack_count = stack_table_count(&b->stacks);
	struct stack *stacks = stack_table_take(&b->stacks);
	arena_adopt(p->arena, stacks, p->stack_count * sizeof(*stacks));
	p->stacks = stacks;
	p->processes = adopt_table(p, &b->processes, &process_rows, &p->process_count);
	p->threads = adopt_table(p, &b->threads, &thread_rows, &p->thread_count);
	p->notes = adopt_table(p, &b->notes, &note_rows, &p->note_count);
	arc_table_freeze(&b->arcs, p);
	p->depth_max = depth_max(p->stacks, p->stack_count);
	p->metric_count = b->metrics.count;
	freeze_samples(b, p);
	label_tables_freeze(&b->labels, p);
	zone_tables_freeze(&b->zones, p);
	freeze_weights(b, p);
	columns_destroy(b);
	p->metrics = adopt_table(p, &b->metrics, &metric_rows, &p->metric_count);
	freeze_strings(b, p);
}

static struct profile *freeze(struct builder *b)
{
	struct profile *p = ARENA_NEW(b->arena, struct profile);

	p->arena = b->arena;
	b->arena = NULL;
	if (b->sample_stack.count)
		sum_samples(b);
	freeze_tables(b, p);
	p->default_metric = b->header.default_metric;
	p->has_stacks = b->header.has_stacks;
	p->stats = b->header.stats;
	p->source = b->header.source;
	p->format = b->header.format;
	p->command = b->header.command;
	p->host = b->header.host;
	p->when = b->header.when;
	p->start_unix_ns = b->header.start_unix_ns;
	return p;
}

struct error *builder_finish(struct builder *b, struct profile **profile)
{
	struct error *err = check_sums(b);

	note_refused(b);
	if (err) {
		builder_destroy(b);
		return err;
	}
	struct profile *p = freeze(b);
	builder_destroy(b);
	err = profile_check(p);
	if (err) {
		profile_destroy(p);
		return err;
	}
	*profile = p;
	return NULL;
}
