/*
 * Builds a profile: interns rows into tables, each of which is paid for from the input's budget.
 * Rows beyond the budget are replaced by one of each kind, named "[left out]", and counted in
 * notes.  builder_weights.c sums weights, builder_finish.c makes the profile.
 */
#include "model/builder.h"

#include <assert.h>
#include <stdlib.h>

#include "model/builder_state.h"

static const struct profile_stats stats_unknown = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX,
	UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};

struct builder *builder_create(void)
{
	struct builder *b = xalloc(sizeof(*b));

	b->arena = arena_create();
	str_table_init(&b->strings, b->arena);
	(void)str_table_intern(&b->strings, STR(""));
	stack_table_init(&b->stacks);
	label_tables_init(&b->labels, &b->budget);
	b->budget.left = UINT64_MAX;
	row_index_init(&b->rows);
	b->process_left_out.i = b->thread_left_out.i = NO_ID;
	b->sample_left_out = SIZE_MAX;
	b->frame_before = b->arcs.before = UINT32_MAX;
	b->header.stats = stats_unknown;
	b->header.has_stacks = true;
	return b;
}

void builder_columns_destroy(struct builder *b)
{
	for (size_t m = 0; b->columns && m < b->metrics.count; m++)
		vec_deinit(&b->columns[m].of_sample);
	free(b->columns);
	b->columns = NULL;
}

void builder_destroy(struct builder *b)
{
	if (b == NULL)
		return;
	builder_columns_destroy(b);
	struct row_table *tables[] = {&b->objects, &b->functions, &b->frames, &b->metrics,
		&b->processes, &b->threads, &b->notes};
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		row_table_deinit(tables[i]);
	arc_table_deinit(&b->arcs);
	weight_rows_deinit(&b->weights);
	place_runs_deinit(&b->place_runs);
	stack_table_deinit(&b->stacks);
	row_index_deinit(&b->rows);
	vec_deinit(&b->samples_of_row);
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

	assert((b->columns == NULL && b->rows.count == 1) || b->metrics.count == before);
	/* Of each metric, and how many samples. */
	b->row_price = BUDGET_WEIGHT_BYTES + 8 * (b->metrics.count + 1);
	return id;
}

void builder_answer_for(struct builder *b, uint64_t input_bytes)
{
	if (!b->has_input)
		b->budget.left = BUDGET_FREE_BYTES;
	b->has_input = true;
	if (input_bytes > (UINT64_MAX - b->budget.left) / BUDGET_RATIO)
		b->budget.left = UINT64_MAX;
	else
		b->budget.left += BUDGET_RATIO * input_bytes;
	b->budget.kept = b->budget.left / BUDGET_KEPT_PART;
}

void builder_charge(struct builder *b, uint64_t bytes)
{
	budget_take(&b->budget, bytes);
}

bool builder_has_room(const struct builder *b, uint64_t bytes)
{
	return budget_has(&b->budget, bytes);
}

/* ---- Rows of our own, for which there is always room: what replaces rows beyond the budget */

static string_id string_of_ours(struct builder *b, struct str s)
{
	return (string_id){str_table_intern(&b->strings, s)};
}

/* Adds the frames that builder_place has made without a lookup to the lookup. */
static void frames_enter(struct builder *b)
{
	if (unlikely(b->frames.apart))
		row_table_enter(&b->frames, &frame_rows);
}

static string_id name_left_out(struct builder *b)
{
	return string_of_ours(b, STR("[left out]"));
}

static object_id object_left_out(struct builder *b)
{
	struct object o = {.path = name_left_out(b), .kind = OBJECT_UNKNOWN};

	return (object_id){row_table_intern(&b->objects, &object_rows, &o)};
}

static function_id function_of_ours(struct builder *b, string_id name)
{
	struct function f = {.name = name, .object = {NO_ID}};

	return (function_id){row_table_intern(&b->functions, &function_rows, &f)};
}

static frame_id frame_of_ours(struct builder *b, function_id function)
{
	struct frame f = {.function = function};

	frames_enter(b);
	return (frame_id){row_table_intern(&b->frames, &frame_rows, &f)};
}

static function_id function_left_out(struct builder *b)
{
	return function_of_ours(b, name_left_out(b));
}

static frame_id frame_left_out(struct builder *b)
{
	return frame_of_ours(b, function_left_out(b));
}

stack_id builder_stack_left_out(struct builder *b)
{
	return stack_table_intern(&b->stacks, (stack_id){0}, frame_left_out(b));
}

stack_id builder_stack_of_none(struct builder *b)
{
	string_id name = string_of_ours(b, STR("[no stack]"));

	return stack_table_intern(
		&b->stacks, (stack_id){0}, frame_of_ours(b, function_of_ours(b, name)));
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

/* ---- Rows from the input */

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

/* Interns a row, and pays for it if it is new; false: there is no room for it. */
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
	return builder_function_called(b, name, STR(""), object, file, line);
}

/* Without room the function gets no aliases; builder_string counts that as a name left out. */
static void add_aliases(struct builder *b, struct function *f, struct str aliases)
{
	string_id id = builder_string(b, aliases);

	if (str_equal(builder_string_bytes(b, id), aliases))
		f->aliases = id;
}

function_id builder_function_called(struct builder *b, string_id name, struct str aliases,
	object_id object, string_id file, uint32_t line)
{
	struct function f = {.name = name, .object = object, .file = file, .line = line};
	function_id id;

	if (!intern(b, BUDGET_FUNCTION, BUDGET_FUNCTION_BYTES, &b->functions, &function_rows, &f,
		    &id.i))
		return function_left_out(b);
	struct function *row = (struct function *)b->functions.rows + id.i;

	if (aliases.size && row->aliases.i == 0)
		add_aliases(b, row, aliases);
	return id;
}

frame_id builder_frame_seek(struct builder *b, const struct frame *f, uint64_t price)
{
	frame_id id;

	frames_enter(b);
	if (intern(b, BUDGET_FRAME, price, &b->frames, &frame_rows, f, &id.i))
		return id;
	return frame_left_out(b);
}

frame_id builder_frame(struct builder *b, function_id function, string_id file, uint32_t line,
	bool is_inline, uint64_t obj_addr)
{
	struct frame f = {.function = function,
		.file = file,
		.line = line,
		.is_inline = is_inline,
		.obj_addr = obj_addr};

	return builder_frame_intern(b, &f, BUDGET_FRAME_BYTES);
}

frame_id builder_frame_marked(struct builder *b, frame_id frame, struct str mark)
{
	assert(frame.i < b->frames.count);
	struct frame f = ((const struct frame *)b->frames.rows)[frame.i];
	struct function function = ((const struct function *)b->functions.rows)[f.function.i];
	struct str name = builder_string_bytes(b, function.name);
	struct strbuf marked = {0}, names = {0};

	strbuf_add(&marked, name);
	strbuf_add(&marked, mark);
	strbuf_add(&names, name);
	strbuf_add_char(&names, '\0');
	strbuf_add(&names, builder_string_bytes(b, function.aliases));
	f.function = builder_function_called(b, builder_string(b, strbuf_str(&marked)),
		strbuf_str(&names), function.object, function.file, function.line);
	strbuf_deinit(&names);
	strbuf_deinit(&marked);
	return builder_frame_intern(b, &f, BUDGET_FRAME_BYTES);
}

/* The stack if it exists, when there is no room for a new one. */
static stack_id stack_known(struct builder *b, stack_id parent, frame_id frame)
{
	stack_id known = stack_table_find(&b->stacks, parent, frame);

	if (known.i)
		return known;
	/* A frame that is itself left out has been counted already. */
	if (parent.i == 0 && frame.i == frame_left_out(b).i)
		return builder_stack_left_out(b);
	(void)refuse(b, BUDGET_STACK);
	return parent.i ? parent : builder_stack_left_out(b);
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
	if (unlikely(budget_unkept(&b->budget) < BUDGET_STACK_BYTES))
		return stack_known(b, parent, frame);
	stack_id stack = stack_table_intern(&b->stacks, parent, frame);
	if (stack.i == before)
		budget_take(&b->budget, BUDGET_STACK_BYTES);
	return stack;
}

bool builder_stack_push(struct builder *b, stack_id parent, frame_id frame, stack_id *stack)
{
	assert(parent.i < stack_table_count(&b->stacks) && frame.i < b->frames.count);
	if (unlikely(budget_unkept(&b->budget) < BUDGET_STACK_BYTES))
		return false;
	budget_take(&b->budget, BUDGET_STACK_BYTES);
	*stack = stack_table_push(&b->stacks, parent, frame);
	return true;
}

bool builder_can_adopt(const struct builder *b, size_t count)
{
	return stack_table_count(&b->stacks) == 1 &&
	       budget_unkept(&b->budget) / BUDGET_STACK_BYTES >= count;
}

void builder_adopt_stacks(struct builder *b, frame_id *frames, size_t count, struct run_list *runs)
{
	assert(builder_can_adopt(b, count));
	budget_take(&b->budget, BUDGET_STACK_BYTES * (count - 1));
	stack_table_adopt(&b->stacks, frames, count, runs, b->arena);
}

size_t builder_stack_path(struct builder *b, stack_id parent, const frame_id *frames, size_t count,
	size_t new_max, stack_id *stacks)
{
	assert(parent.i < stack_table_count(&b->stacks));
	for (size_t i = 0; i < count; i++)
		assert(frames[i].i < b->frames.count);
	uint64_t room = budget_unkept(&b->budget) / BUDGET_STACK_BYTES;
	size_t before = stack_table_count(&b->stacks);
	size_t found = stack_table_path(
		&b->stacks, parent, frames, count, new_max < room ? new_max : (size_t)room, stacks);

	budget_take(&b->budget, BUDGET_STACK_BYTES * (stack_table_count(&b->stacks) - before));
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

	if (unlikely(!budget_has(&b->budget, price)) && !arc_table_has(&b->arcs, caller, callee)) {
		(void)refuse(b, BUDGET_ARC);
		caller = callee = function_left_out(b);
	}
	uint32_t arc = arc_table_add(&b->arcs, caller, callee, calls, cost, b->metrics.count);
	if (b->arcs.arcs.count > before)
		budget_take(&b->budget, price);
	return arc;
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

void builder_tick(struct builder *b, const struct tick *tick)
{
	struct tick added = *tick;

	assert(tick->process.i < b->processes.count && tick->stream.i < b->strings.count);
	assert(tick->thread.i == NO_ID || tick->thread.i < b->threads.count);
	if (added.end_ns < added.start_ns)
		added.end_ns = added.start_ns;
	if (pay(b, BUDGET_EVENT, BUDGET_EVENT_BYTES))
		zone_tables_tick(&b->zones, added);
}

void builder_zone_event(struct builder *b, thread_id thread, uint64_t time_ns, stack_id stack)
{
	assert(thread.i < b->threads.count && stack.i < stack_table_count(&b->stacks));
	if (pay(b, BUDGET_EVENT, BUDGET_EVENT_BYTES))
		zone_tables_event(&b->zones, thread, time_ns, stack);
}

void builder_expect_zone_events(struct builder *b, size_t count)
{
	vec_reserve(&b->zones.events, b->zones.events.count + count);
}

/* Whether another note with that text is allowed. */
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

void builder_note_refused(struct builder *b)
{
	b->has_input = false;
	for (enum budget_row row = 0; row < BUDGET_ROW_COUNT; row++)
		if (b->budget.refused[row])
			builder_note(b, NOTE_TRUNCATED, b->budget.refused[row], "%s",
				budget_sentence(row));
	if (b->labels.left_out)
		builder_note(b, NOTE_TRUNCATED, b->labels.left_out,
			"labels of samples were left out: the first %d of a sample are kept",
			SAMPLE_LABELS_MAX);
}

struct builder_header *builder_header(struct builder *b)
{
	return &b->header;
}
