/*
 * Rows of a capture file's small tables, each encoder next to its decoder.  See capture_rows.h.
 */
#include "formats/sonde/layout/capture_rows.h"
#include "base/wire.h"

static void row_end(struct strbuf *out, struct strbuf *row)
{
	wire_put_str(out, strbuf_str(row));
	strbuf_deinit(row);
}

/* The next row's fields; false at the end. */
static bool row_begin(struct cursor *c, struct cursor *row)
{
	if (!cursor_ok(c) || cursor_at_end(c))
		return false;
	*row = wire_column(c);
	return cursor_ok(c);
}

/* Copies a row's error to the chunk's cursor. */
static bool row_good(struct cursor *c, const struct cursor *row)
{
	if (!cursor_ok(row))
		cursor_fail(c, row->problem);
	return cursor_ok(c);
}

static void put_string(struct strbuf *row, struct str s)
{
	if (s.size > CAPTURE_STRING_MAX)
		s.size = CAPTURE_STRING_MAX;
	wire_put_str(row, s);
}

/* An id, or CAPTURE_NO_ID. */
static void put_optional_id(struct strbuf *row, uint32_t id)
{
	wire_put_uleb(row, id == CAPTURE_NO_ID ? 0 : (uint64_t)id + 1);
}

static uint32_t get_id(struct cursor *row)
{
	return (uint32_t)cursor_uleb_to(row, CAPTURE_NO_ID);
}

static uint32_t get_optional_id(struct cursor *row)
{
	uint64_t next = cursor_uleb_to(row, CAPTURE_NO_ID);

	return next == 0 ? CAPTURE_NO_ID : (uint32_t)next - 1;
}

void capture_put_fact(struct strbuf *out, const struct capture_fact *fact)
{
	struct strbuf row = {0};

	wire_put_uleb(&row, fact->key);
	if (capture_fact_is_number(fact->key))
		wire_put_uleb(&row, fact->number);
	else
		put_string(&row, fact->string);
	row_end(out, &row);
}

bool capture_get_fact(struct cursor *c, struct capture_fact *fact)
{
	struct cursor row;

	if (!row_begin(c, &row))
		return false;
	*fact = (struct capture_fact){.key = get_id(&row)};
	if (capture_fact_is_number(fact->key))
		fact->number = wire_uleb(&row);
	else
		fact->string = wire_str(&row);
	return row_good(c, &row);
}

void capture_put_metric(struct strbuf *out, const struct capture_metric *metric)
{
	struct strbuf row = {0};

	wire_put_uleb(&row, metric->metric);
	put_string(&row, metric->name);
	put_string(&row, metric->unit);
	row_end(out, &row);
}

bool capture_get_metric(struct cursor *c, struct capture_metric *metric)
{
	struct cursor row;

	if (!row_begin(c, &row))
		return false;
	metric->metric = get_id(&row);
	metric->name = wire_str(&row);
	metric->unit = wire_str(&row);
	return row_good(c, &row);
}

void capture_put_object(struct strbuf *out, const struct capture_object *object)
{
	struct strbuf row = {0};

	wire_put_uleb(&row, object->object);
	wire_put_uleb(&row, object->kind);
	put_string(&row, object->path);
	put_string(&row, object->build_id);
	if (object->is_replaced)
		wire_put_uleb(&row, 1);
	row_end(out, &row);
}

bool capture_get_object(struct cursor *c, struct capture_object *object)
{
	struct cursor row;

	if (!row_begin(c, &row))
		return false;
	object->object = get_id(&row);
	object->kind = get_id(&row);
	object->path = wire_str(&row);
	object->build_id = wire_str(&row);
	object->is_replaced = cursor_left(&row) > 0 && wire_uleb(&row) != 0;
	return row_good(c, &row);
}

void capture_put_mark(struct strbuf *out, const struct capture_mark *mark)
{
	struct strbuf row = {0};

	wire_put_uleb(&row, mark->object);
	put_string(&row, mark->name);
	wire_put_uleb(&row, mark->va);
	row_end(out, &row);
}

bool capture_get_mark(struct cursor *c, struct capture_mark *mark)
{
	struct cursor row;

	if (!row_begin(c, &row))
		return false;
	mark->object = get_id(&row);
	mark->name = wire_str(&row);
	mark->va = wire_uleb(&row);
	return row_good(c, &row);
}

void capture_put_tail(struct strbuf *out, const struct capture_tail *tail)
{
	struct strbuf row = {0};

	wire_put_uleb(&row, tail->object);
	wire_put_uleb(&row, tail->caller);
	wire_put_uleb(&row, tail->callee);
	wire_put_uleb(&row, tail->jump);
	row_end(out, &row);
}

bool capture_get_tail(struct cursor *c, struct capture_tail *tail)
{
	struct cursor row;

	if (!row_begin(c, &row))
		return false;
	tail->object = get_id(&row);
	tail->caller = wire_uleb(&row);
	tail->callee = wire_uleb(&row);
	tail->jump = wire_uleb(&row);
	return row_good(c, &row);
}

void capture_put_process(struct strbuf *out, const struct capture_process *process)
{
	struct strbuf row = {0};

	wire_put_uleb(&row, process->process);
	wire_put_uleb(&row, process->parent);
	wire_put_sleb(&row, process->pid);
	wire_put_uleb(&row, process->start_ns);
	put_string(&row, process->name);
	row_end(out, &row);
}

bool capture_get_process(struct cursor *c, struct capture_process *process)
{
	struct cursor row;

	if (!row_begin(c, &row))
		return false;
	process->process = get_id(&row);
	process->parent = get_id(&row);
	process->pid = wire_sleb(&row);
	process->start_ns = wire_uleb(&row);
	process->name = wire_str(&row);
	return row_good(c, &row);
}

void capture_put_thread(struct strbuf *out, const struct capture_thread *thread)
{
	struct strbuf row = {0};

	wire_put_uleb(&row, thread->thread);
	wire_put_uleb(&row, thread->process);
	wire_put_sleb(&row, thread->tid);
	wire_put_uleb(&row, thread->start_ns);
	put_string(&row, thread->name);
	row_end(out, &row);
}

bool capture_get_thread(struct cursor *c, struct capture_thread *thread)
{
	struct cursor row;

	if (!row_begin(c, &row))
		return false;
	thread->thread = get_id(&row);
	thread->process = get_id(&row);
	thread->tid = wire_sleb(&row);
	thread->start_ns = wire_uleb(&row);
	thread->name = wire_str(&row);
	return row_good(c, &row);
}

void capture_put_mapping(struct strbuf *out, const struct capture_mapping *mapping)
{
	struct strbuf row = {0};

	wire_put_uleb(&row, mapping->process);
	wire_put_uleb(&row, mapping->object);
	wire_put_uleb(&row, mapping->time_ns);
	wire_put_uleb(&row, mapping->low_va);
	wire_put_uleb(&row, mapping->high_va - mapping->low_va);
	wire_put_uleb(&row, mapping->slide);
	row_end(out, &row);
}

bool capture_get_mapping(struct cursor *c, struct capture_mapping *mapping)
{
	struct cursor row;

	if (!row_begin(c, &row))
		return false;
	mapping->process = get_id(&row);
	mapping->object = get_id(&row);
	mapping->time_ns = wire_uleb(&row);
	mapping->low_va = wire_uleb(&row);
	mapping->high_va = mapping->low_va + wire_uleb(&row);
	mapping->slide = wire_uleb(&row);
	return row_good(c, &row);
}

void capture_put_count(struct strbuf *out, const struct capture_count *count)
{
	struct strbuf row = {0};

	wire_put_uleb(&row, count->counter);
	wire_put_uleb(&row, count->value);
	row_end(out, &row);
}

bool capture_get_count(struct cursor *c, struct capture_count *count)
{
	struct cursor row;

	if (!row_begin(c, &row))
		return false;
	count->counter = get_id(&row);
	count->value = wire_uleb(&row);
	return row_good(c, &row);
}

void capture_put_end(struct strbuf *out, uint64_t samples, uint64_t dropped)
{
	wire_put_uleb(out, samples);
	wire_put_uleb(out, dropped);
}

bool capture_get_end(struct cursor *c, uint64_t *samples, uint64_t *dropped)
{
	*samples = wire_uleb(c);
	*dropped = wire_uleb(c);
	return cursor_ok(c);
}

void capture_put_tick(struct strbuf *out, const struct capture_tick *tick)
{
	struct strbuf row = {0};

	wire_put_uleb(&row, tick->process);
	put_string(&row, tick->stream);
	wire_put_uleb(&row, tick->number);
	wire_put_uleb(&row, tick->start_ns);
	wire_put_uleb(&row, tick->duration_ns);
	put_optional_id(&row, tick->thread);
	row_end(out, &row);
}

bool capture_get_tick(struct cursor *c, struct capture_tick *tick)
{
	struct cursor row;

	if (!row_begin(c, &row))
		return false;
	tick->process = get_id(&row);
	tick->stream = wire_str(&row);
	tick->number = wire_uleb(&row);
	tick->start_ns = wire_uleb(&row);
	tick->duration_ns = wire_uleb(&row);
	tick->thread = cursor_left(&row) > 0 ? get_optional_id(&row) : CAPTURE_NO_ID;
	return row_good(c, &row);
}

void capture_put_note(struct strbuf *out, const struct capture_note *note)
{
	struct strbuf row = {0};

	wire_put_uleb(&row, note->kind);
	wire_put_uleb(&row, note->count);
	put_string(&row, note->text);
	row_end(out, &row);
}

bool capture_get_note(struct cursor *c, struct capture_note *note)
{
	struct cursor row;

	if (!row_begin(c, &row))
		return false;
	note->kind = get_id(&row);
	note->count = wire_uleb(&row);
	note->text = wire_str(&row);
	return row_good(c, &row);
}

void capture_put_address(struct strbuf *out, const struct capture_address *address)
{
	struct strbuf row = {0};

	wire_put_uleb(&row, address->object);
	wire_put_uleb(&row, address->first);
	wire_put_uleb(&row, address->count);
	wire_put_uleb(&row, address->obj_addr);
	row_end(out, &row);
}

bool capture_get_address(struct cursor *c, struct capture_address *address)
{
	struct cursor row;

	if (!row_begin(c, &row))
		return false;
	address->object = get_id(&row);
	address->first = wire_uleb(&row);
	address->count = wire_uleb(&row);
	address->obj_addr = wire_uleb(&row);
	return row_good(c, &row);
}

void capture_put_function(struct strbuf *out, const struct capture_function_row *function)
{
	struct strbuf row = {0};

	wire_put_uleb(&row, function->function);
	wire_put_uleb(&row, function->object);
	wire_put_uleb(&row, function->line);
	put_string(&row, function->name);
	put_string(&row, function->file);
	put_string(&row, function->aliases);
	row_end(out, &row);
}

bool capture_get_function(struct cursor *c, struct capture_function_row *function)
{
	struct cursor row;

	if (!row_begin(c, &row))
		return false;
	function->function = get_id(&row);
	function->object = get_id(&row);
	function->line = get_id(&row);
	function->name = wire_str(&row);
	function->file = wire_str(&row);
	function->aliases = cursor_at_end(&row) ? STR("") : wire_str(&row);
	return row_good(c, &row);
}

void capture_put_arc(struct strbuf *out, const struct capture_arc *arc)
{
	struct strbuf row = {0};

	wire_put_uleb(&row, arc->caller);
	wire_put_uleb(&row, arc->callee);
	wire_put_uleb(&row, arc->calls);
	for (uint32_t i = 0; i < arc->cost_count; i++)
		wire_put_sleb(&row, arc->cost[i]);
	row_end(out, &row);
}

bool capture_get_arc(struct cursor *c, struct capture_arc *arc)
{
	struct cursor row;

	if (!row_begin(c, &row))
		return false;
	arc->caller = get_id(&row);
	arc->callee = get_id(&row);
	arc->calls = wire_uleb(&row);
	for (arc->cost_count = 0; !cursor_at_end(&row) && arc->cost_count < CAPTURE_METRIC_MAX;)
		arc->cost[arc->cost_count++] = wire_sleb(&row);
	return row_good(c, &row);
}

void capture_put_label(struct strbuf *out, const struct capture_label *label)
{
	struct strbuf row = {0};

	put_string(&row, label->key);
	put_string(&row, label->text);
	wire_put_sleb(&row, label->number);
	put_string(&row, label->unit);
	row_end(out, &row);
}

bool capture_get_label(struct cursor *c, struct capture_label *label)
{
	struct cursor row;

	if (!row_begin(c, &row))
		return false;
	label->key = wire_str(&row);
	label->text = wire_str(&row);
	label->number = wire_sleb(&row);
	label->unit = wire_str(&row);
	return row_good(c, &row);
}

void capture_put_label_set(struct strbuf *out, const struct capture_label_set *set)
{
	struct strbuf row = {0};

	wire_put_uleb(&row, set->rest);
	wire_put_uleb(&row, set->label);
	row_end(out, &row);
}

bool capture_get_label_set(struct cursor *c, struct capture_label_set *set)
{
	struct cursor row;

	if (!row_begin(c, &row))
		return false;
	set->rest = get_id(&row);
	set->label = get_id(&row);
	return row_good(c, &row);
}
