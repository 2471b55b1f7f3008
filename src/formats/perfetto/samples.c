/*
 * Samples of a Perfetto trace: PerfSample, which traced_perf writes, and StackSample, which any
 * program may write; their callstacks have frames that are interned or inline in the sample.
 *
 * Source: profile_packet.proto, stack_sample.proto, inline_callstack.proto, profile_common.proto
 * and perf_events.proto in protos/perfetto of Perfetto.
 *
 * A sample keeps the number of its callstack's entry; the stack is made after reading everything,
 * because names that were resolved later (ModuleSymbols) are at the end of a trace.
 */
#include "base/hash.h"
#include "formats/common/importer.h"
#include "formats/perfetto/reader.h"

/* Distinguishes numbers of inline callstacks from those of interned ones. */
#define INLINE_STACK (UINT64_C(1) << 32)

enum { NO_WEIGHT = -1 }; /* of a sample, until all are read */

/* ---- Frames */

/* A frame, with its mapping. */
struct code {
	uint64_t function_name, mapping, rel_pc, source;
	uint32_t line;
	bool is_kernel, is_inline;
	string_id build_id; /* bytes, as in ModuleSymbols */
	object_id object;
};

static string_id hex_of(struct builder *b, struct str bytes)
{
	struct strbuf hex = {0};

	for (size_t i = 0; i < bytes.size; i++)
		strbuf_printf(&hex, "%02x", (unsigned char)bytes.data[i]);
	string_id id = builder_string(b, strbuf_str(&hex));
	strbuf_deinit(&hex);
	return id;
}

/* Reads the load object of a mapping; its path is in parts. */
static void read_mapping(struct perfetto *f, uint32_t scope, struct code *code)
{
	struct perfetto_entry *e = perfetto_entry(f, PERFETTO_MAPPINGS, scope, code->mapping);
	struct builder *b = f->chrome.builder;
	struct proto_field field;
	struct strbuf path = {0};
	uint64_t part;

	if (e == NULL)
		return;
	struct cursor c = perfetto_entry_message(f, e);
	while (proto_next(&c, &field)) {
		struct proto_numbers parts = proto_numbers(&c, &field, PROTO_VARINT);
		if (field.number == MAPPING_BUILD_ID)
			code->build_id = perfetto_text(f, PERFETTO_BUILD_IDS, scope, field.value);
		while (field.number == MAPPING_PATH && proto_number(&parts, &part)) {
			struct str text = builder_string_bytes(
				b, perfetto_text(f, PERFETTO_MAPPING_PATHS, scope, part));
			if (text.size && text.data[0] != '/' && text.data[0] != '[')
				strbuf_add_char(&path, '/');
			strbuf_add(&path, text);
		}
	}
	if (e->made == 0 && path.size) {
		string_id hex = hex_of(b, builder_string_bytes(b, code->build_id));
		bool is_kernel = code->is_kernel || str_equal(strbuf_str(&path), STR("/kernel")) ||
				 str_starts_with(strbuf_str(&path), STR("[kernel"));
		e->made = builder_object(b, strbuf_str(&path), builder_string_bytes(b, hex),
				  is_kernel ? OBJECT_KERNEL : OBJECT_USER)
				  .i +
			  1;
	}
	if (e->made)
		code->object.i = e->made - 1;
	strbuf_deinit(&path);
}

/* Reads a kind as text: those of sonde's writer, for which Perfetto has no kinds. */
static void read_kind(struct code *code, struct str text)
{
	code->is_kernel = str_equal(text, STR("inlined kernel"));
	code->is_inline = code->is_kernel || str_equal(text, STR("inlined"));
}

static bool read_code(struct perfetto *f, uint32_t scope, uint64_t iid, struct code *code)
{
	struct perfetto_entry *e = perfetto_entry(f, PERFETTO_FRAMES, scope, iid);
	struct proto_field field;

	*code = (struct code){.object = {NO_ID}};
	if (e == NULL)
		return false;
	struct cursor c = perfetto_entry_message(f, e);
	while (proto_next(&c, &field)) {
		if (field.number == FRAME_FUNCTION)
			code->function_name = field.value;
		else if (field.number == FRAME_MAPPING)
			code->mapping = field.value;
		else if (field.number == FRAME_ADDRESS)
			code->rel_pc = field.value;
		else if (field.number == FRAME_FILE)
			code->source = field.value;
		else if (field.number == FRAME_LINE)
			code->line = (uint32_t)field.value;
		else if (field.number == FRAME_KIND)
			code->is_kernel = field.value == KIND_KERNEL;
		else if (field.number == FRAME_KIND_TEXT)
			read_kind(code, field.bytes);
	}
	if (code->mapping)
		read_mapping(f, scope, code);
	return true;
}

static stack_id push(struct perfetto *f, stack_id parent, const struct code *code, string_id name,
	string_id file, uint32_t line, bool is_inline)
{
	struct builder *b = f->chrome.builder;
	stack_id stack;

	if (name.i == 0)
		name = builder_string(b, STR("[unknown]"));
	function_id function = builder_function(b, name, code->object, (string_id){0}, 0);
	(void)stack_budget_take(&f->stacks, b, parent,
		builder_frame(b, function, file, line, is_inline,
			code->object.i == NO_ID ? 0 : code->rel_pc),
		&stack);
	return stack;
}

/*
 * Pushes one of the Lines of an address, or a frame of an InlineCallstack, which has the same
 * fields.
 */
static stack_id push_line(struct perfetto *f, stack_id parent, const struct code *code,
	struct cursor c, bool is_inline)
{
	string_id name = {0}, file = {0};
	struct proto_field field;
	uint32_t line = 0;

	while (proto_next(&c, &field)) {
		if (field.number == LINE_FUNCTION)
			name = builder_string(f->chrome.builder, field.bytes);
		else if (field.number == LINE_FILE)
			file = builder_string(f->chrome.builder, field.bytes);
		else if (field.number == LINE_NUMBER)
			line = (uint32_t)field.value;
	}
	return push(f, parent, code, name, file, line, is_inline);
}

/* Pushes the functions found for an address; inlined functions are listed innermost first. */
static stack_id push_symbols(
	struct perfetto *f, stack_id stack, const struct code *code, const struct perfetto_entry *e)
{
	VEC(struct cursor) lines = {0};
	struct cursor c = perfetto_entry_message(f, e);
	struct proto_field field;

	while (proto_next(&c, &field))
		if (field.number == ADDRESS_LINES && field.type == PROTO_BYTES)
			vec_push(&lines, proto_message(&c, &field));
	for (size_t i = lines.count; i-- > 0;)
		stack = push_line(f, stack, code, lines.data[i], i + 1 < lines.count);
	vec_deinit(&lines);
	return stack;
}

static stack_id push_frame(struct perfetto *f, stack_id stack, uint32_t scope, uint64_t iid)
{
	struct code code;

	if (!read_code(f, scope, iid, &code)) {
		f->bad_stacks++;
		return stack;
	}
	string_id name = perfetto_text(f, PERFETTO_FUNCTION_NAMES, scope, code.function_name);
	const struct perfetto_entry *symbols =
		code.build_id.i ? perfetto_entry(f, PERFETTO_SYMBOLS, code.build_id.i, code.rel_pc)
				: NULL;
	if (symbols)
		return push_symbols(f, stack, &code, symbols);
	string_id file = perfetto_text(f, PERFETTO_SOURCE_PATHS, scope, code.source);
	return push(f, stack, &code, name, file, code.line, code.is_inline);
}

/* ---- Stacks */

static stack_id interned_stack(struct perfetto *f, struct perfetto_entry *e)
{
	struct cursor c = perfetto_entry_message(f, e);
	struct proto_field field;
	stack_id stack = {0};
	uint64_t iid;

	while (proto_next(&c, &field)) {
		struct proto_numbers frames = proto_numbers(&c, &field, PROTO_VARINT);
		while (field.number == CALLSTACK_FRAMES && proto_number(&frames, &iid))
			stack = push_frame(f, stack, e->scope, iid);
	}
	return stack;
}

static stack_id inline_stack(struct perfetto *f, struct perfetto_entry *e)
{
	const struct code nowhere = {.object = {NO_ID}};
	struct cursor c = perfetto_entry_message(f, e);
	struct proto_field field;
	stack_id stack = {0};

	while (proto_next(&c, &field))
		if (field.number == INLINE_CALLSTACK_FRAMES && field.type == PROTO_BYTES)
			stack = push_line(f, stack, &nowhere, proto_message(&c, &field), false);
	return stack;
}

stack_id perfetto_stack_of(struct chrome *c, uint64_t frame)
{
	struct perfetto *f = (struct perfetto *)c;
	bool is_inline = (frame & INLINE_STACK) != 0;
	enum perfetto_kind kind = is_inline ? PERFETTO_INLINE_CALLSTACKS : PERFETTO_CALLSTACKS;
	struct perfetto_entry *e =
		(struct perfetto_entry *)f->interned[kind].rows + (uint32_t)frame;

	if (e->made == 0)
		e->made = (is_inline ? inline_stack(f, e) : interned_stack(f, e)).i + 1;
	return (stack_id){e->made - 1};
}

/* ---- Counters */

/* A counter that provides samples' weights. */
struct counter {
	struct str name;
	struct str unit;
	uint64_t multiplier;
};

/* perf's name for a PerfEvents.Counter. */
static struct str perf_counter_name(uint64_t counter)
{
	static const char *const names[] = {"unknown", "cpu-clock", "page-faults", "task-clock",
		"context-switches", "cpu-migrations", "minor-faults", "major-faults",
		"alignment-faults", "emulation-faults", "cpu-cycles", "instructions",
		"cache-references", "cache-misses", "branch-instructions", "branch-misses",
		"bus-cycles", "stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles"};

	return str_from(names[counter < ARRAY_SIZE(names) ? counter : 0]);
}

/*
 * Reads a Timebase; *period: the number of events per sample; UINT64_MAX: unknown.  0 is written by
 * sonde: then another sample has the weight.
 */
static struct counter read_timebase(
	const struct perfetto *f, const struct proto_field *message, uint64_t *period)
{
	struct cursor c = proto_message(&f->file, message), inner;
	struct proto_field field, member;
	uint64_t event = TIMEBASE_CPU_CLOCK;
	struct str name = STR("");

	*period = UINT64_MAX;
	while (proto_next(&c, &field)) {
		inner = proto_message(&c, &field);
		if (field.number == TIMEBASE_PERIOD)
			*period = field.value;
		else if (field.number == TIMEBASE_COUNTER)
			event = field.value;
		else if (field.number == TIMEBASE_NAME)
			name = field.bytes;
		while (field.number == TIMEBASE_TRACEPOINT && proto_next(&inner, &member))
			if (member.number == TRACEPOINT_NAME)
				name = member.bytes, event = 0;
	}
	return (struct counter){.name = name.size ? name : perf_counter_name(event),
		.unit = event == TIMEBASE_CPU_CLOCK || event == TIMEBASE_TASK_CLOCK ? STR("ns")
										    : STR("count"),
		.multiplier = 1};
}

/* Reads a CounterDescriptor. */
static struct counter read_counter(const struct perfetto *f, const struct proto_field *message)
{
	static const char *const names[] = {"weight", "time", "cycles", "instructions", "bytes",
		"page-faults", "cache-misses", "cache-references", "branch-misses", "count"};
	enum { NANOSECONDS = 1, BYTES = 4 };
	struct counter counter = {.multiplier = 1};
	struct cursor c = proto_message(&f->file, message);
	struct proto_field field;
	uint64_t unit = 0;

	while (proto_next(&c, &field)) {
		if (field.number == COUNTER_NAME)
			counter.name = field.bytes;
		else if (field.number == COUNTER_UNIT)
			unit = field.value < ARRAY_SIZE(names) ? field.value : 0;
		else if (field.number == COUNTER_UNIT_TEXT)
			counter.unit = field.bytes;
		else if (field.number == COUNTER_MULTIPLIER && field.value)
			counter.multiplier = field.value;
	}
	if (counter.unit.size == 0)
		counter.unit = unit == NANOSECONDS ? STR("ns")
			       : unit == BYTES	   ? STR("bytes")
						   : STR("count");
	if (counter.name.size == 0)
		counter.name = str_from(names[unit]);
	return counter;
}

/* Whether the samples' weights are of that counter; the first counter seen is used. */
static bool is_weighed_by(struct perfetto *f, struct counter counter)
{
	struct chrome *c = &f->chrome;

	if (c->metric.i == 0) {
		c->metric = builder_string(c->builder, counter.name);
		c->unit = builder_string(c->builder, counter.unit);
	}
	return str_equal(builder_string_bytes(c->builder, c->metric), counter.name) &&
	       str_equal(builder_string_bytes(c->builder, c->unit), counter.unit);
}

/* ---- Samples */

struct sample {
	int64_t pid, tid;
	uint64_t frame; /* UINT64_MAX: none */
	uint64_t weight;
	bool has_weight;
	struct counter counter;
};

static uint64_t callstack_frame(struct perfetto *f, uint32_t scope, uint64_t iid)
{
	const struct perfetto_entry *e = perfetto_entry(f, PERFETTO_CALLSTACKS, scope, iid);

	if (e)
		return (uint64_t)(e -
				  (const struct perfetto_entry *)f->interned[PERFETTO_CALLSTACKS]
					  .rows);
	f->bad_stacks++;
	return UINT64_MAX;
}

static int64_t weight_of(const struct sample *s)
{
	uint64_t weight;

	if (__builtin_mul_overflow(s->weight, s->counter.multiplier, &weight) || weight > INT64_MAX)
		return INT64_MAX;
	return (int64_t)weight;
}

static void add_sample(struct perfetto *f, const struct sample *s, int64_t time)
{
	struct chrome *c = &f->chrome;
	int64_t weight = 0;

	if (s->frame == UINT64_MAX) {
		f->no_stack++;
		return;
	}
	if (f->events_left == 0) {
		f->too_many++;
		return;
	}
	f->events_left--;
	if (s->has_weight && !is_weighed_by(f, s->counter))
		f->other_weights++;
	else if (s->has_weight)
		weight = weight_of(s);
	uint32_t thread = chrome_thread_at(c, s->pid, s->tid);
	c->threads.data[thread].is_used = true;
	builder_charge(c->builder, sizeof(struct chrome_sample));
	vec_push(&c->samples, (struct chrome_sample){.ts = time,
				      .frame = s->frame,
				      .weight = s->has_weight ? weight : NO_WEIGHT,
				      .thread = thread});
}

void perfetto_read_perf_sample(struct perfetto *f, const struct perfetto_sequence *s,
	const struct proto_field *message, int64_t time)
{
	struct sample sample = {.frame = UINT64_MAX};
	struct cursor c = proto_message(&f->file, message);
	struct proto_field field;
	bool is_sample = true, is_in_scope = true;

	while (proto_next(&c, &field))
		switch (field.number) {
		case PERF_PID:
			sample.pid = (int32_t)field.value;
			break;
		case PERF_TID:
			sample.tid = (int32_t)field.value;
			break;
		case PERF_CALLSTACK_IID:
			sample.frame = callstack_frame(f, s->scope, field.value);
			break;
		case PERF_UNWIND_ERROR:
			f->not_walked += field.value > UNWIND_ERROR_NONE;
			break;
		case PERF_RECORDS_LOST:
			f->records_lost += field.value;
			is_sample = field.value == 0;
			break;
		case PERF_SKIPPED_REASON:
			is_in_scope = field.value != NOT_IN_SCOPE;
			break;
		case PERF_PRODUCER_EVENT:
			is_sample = false;
			break;
		default:
			break;
		}
	sample.weight = UINT64_MAX;
	if (s->timebase.number)
		sample.counter = read_timebase(f, &s->timebase, &sample.weight);
	sample.has_weight = sample.weight != UINT64_MAX;
	is_sample &= !sample.has_weight || sample.weight > 0;
	/* Older versions of sonde wrote samples without a unit as skipped ones with a stack. */
	if (is_sample && (is_in_scope || sample.frame != UINT64_MAX))
		add_sample(f, &sample, time);
}

/* Reads a TaskContext, from the sample or interned. */
static void read_task(struct sample *sample, struct cursor c)
{
	struct proto_field field;

	while (proto_next(&c, &field)) {
		if (field.number == TASK_PID)
			sample->pid = (uint32_t)field.value;
		else if (field.number == TASK_TID)
			sample->tid = (uint32_t)field.value;
	}
}

static struct proto_field entry_field(const struct perfetto *f, const struct perfetto_entry *e)
{
	struct str bytes = {(const char *)f->file.start + e->offset, e->size};

	return (struct proto_field){
		.number = 1, .type = PROTO_BYTES, .bytes = bytes, .offset = e->offset};
}

void perfetto_read_stack_sample(struct perfetto *f, const struct perfetto_sequence *s,
	const struct proto_field *message, int64_t time)
{
	struct sample sample = {.frame = UINT64_MAX};
	struct cursor c = proto_message(&f->file, message);
	struct proto_field field, counter = s->counter;
	const struct perfetto_entry *e;
	uint32_t row;

	while (proto_next(&c, &field))
		switch (field.number) {
		case STACK_TASK:
			read_task(&sample, proto_message(&c, &field));
			break;
		case STACK_TASK_IID:
			e = perfetto_entry(f, PERFETTO_TASKS, s->scope, field.value);
			if (e)
				read_task(&sample, perfetto_entry_message(f, e));
			break;
		case STACK_CALLSTACK:
			row = perfetto_intern(
				f, PERFETTO_INLINE_CALLSTACKS, 0, field.offset, &field);
			sample.frame = row == NO_ID ? UINT64_MAX : row | INLINE_STACK;
			break;
		case STACK_CALLSTACK_IID:
			sample.frame = callstack_frame(f, s->scope, field.value);
			break;
		case STACK_UNWIND_ERROR:
		case STACK_UNWIND_ERROR_IID:
			f->not_walked++;
			break;
		case STACK_DESCRIPTOR:
			counter = field;
			break;
		case STACK_DESCRIPTOR_IID:
			e = perfetto_entry(f, PERFETTO_COUNTERS, s->scope, field.value);
			if (e)
				counter = entry_field(f, e);
			break;
		case STACK_WEIGHT:
			sample.weight = field.value;
			sample.has_weight = true;
			break;
		default:
			break;
		}
	sample.counter = counter.number ? read_counter(f, &counter)
					: (struct counter){STR("weight"), STR("count"), 1};
	add_sample(f, &sample, time);
}

void perfetto_name_weights(struct perfetto *f)
{
	struct chrome *c = &f->chrome;
	bool has_counter = c->metric.i != 0;

	/* Without a counter, each sample counts as one. */
	if (!has_counter) {
		c->metric = builder_string(c->builder, STR("samples"));
		c->unit = builder_string(c->builder, STR("count"));
	}
	for (size_t i = 0; i < c->samples.count; i++) {
		if (c->samples.data[i].weight != NO_WEIGHT)
			continue;
		c->samples.data[i].weight = !has_counter;
		f->other_weights += has_counter;
	}
}

void perfetto_note_samples(const struct perfetto *f)
{
	struct builder *b = f->chrome.builder;

	counted_note(b, NOTE_LOST, f->records_lost, "the kernel lost a record while tracing",
		"records were lost by the kernel while tracing");
	counted_note(b, NOTE_INFO, f->no_stack, "a sample has no stack, and is left out",
		"samples have no stack, and are left out");
	counted_note(b, NOTE_TRUNCATED, f->not_walked, "a stack was not walked to its root",
		"stacks were not walked to their root");
	counted_note(b, NOTE_BAD_RECORD, f->bad_stacks,
		"a reference is to a callstack or frame that is not in the file",
		"references are to callstacks or frames that are not in the file");
	counted_note(b, NOTE_INFO, f->other_weights,
		"a sample is weighed by none or another counter than the first, and weighs nothing "
		"here",
		"samples are weighed by none or another counter than the first, and weigh nothing "
		"here");
	stack_budget_note(&f->stacks, b);
}
