/*
 * The dictionary of an OTLP message: strings, functions, locations, mappings and stacks.  See
 * reader.h.
 *
 * A location's lines are frames, the innermost first; all except the last are inlined calls.  A
 * stack lists its locations from the leaf.  A single byte of a file may add a frame of a new stack,
 * so the number of frames is limited by the file's size.
 */
#include "formats/otlp/reader.h"

#include <stdlib.h>

#include "base/alloc.h"

static void read_rows(struct otlp *o, struct otlp_message *m, struct cursor dictionary)
{
	struct proto_field row;
	const uint8_t *before = dictionary.at;

	m->has_dictionary = true;
	for (; otlp_next(o, &dictionary, &row); before = dictionary.at)
		if (row.number < TABLE_COUNT && row.type == PROTO_BYTES)
			vec_push(&m->rows[row.number],
				(uint32_t)(before - (const uint8_t *)m->bytes.data));
}

void otlp_tables_read(struct otlp *o, struct otlp_message *m)
{
	struct cursor c;
	struct proto_field f;

	cursor_init(&c, m->bytes.data, m->bytes.size, o->input->name, m->offset);
	while (otlp_next(o, &c, &f))
		if (f.number == DATA_DICTIONARY && f.type == PROTO_BYTES)
			read_rows(o, m, proto_message(&c, &f));
}

void otlp_tables_deinit(struct otlp_message *m)
{
	for (int table = 0; table < TABLE_COUNT; table++)
		vec_deinit(&m->rows[table]);
	free(m->stacks);
	free(m->locations);
	free(m->labels);
}

bool otlp_row(struct otlp *o, int table, uint64_t number, struct cursor *row, uint64_t offset)
{
	const struct otlp_message *m = o->message;
	struct proto_field f;
	struct cursor c;

	if (number >= m->rows[table].count) {
		fault_add(&o->faults[FAULT_ROW], offset);
		return false;
	}
	uint32_t at = m->rows[table].data[number];
	cursor_init(&c, m->bytes.data + at, m->bytes.size - at, o->input->name, m->offset + at);
	if (!otlp_next(o, &c, &f))
		return false;
	*row = proto_message(&c, &f);
	return true;
}

struct str otlp_string(struct otlp *o, uint64_t number, uint64_t offset)
{
	struct cursor row;

	if (number == 0 || !otlp_row(o, TABLE_STRING, number, &row, offset))
		return STR("");
	return (struct str){(const char *)row.at, cursor_left(&row)};
}

/* ---- mappings ---- */

/* Reads the build ID of a mapping: the GNU one, else OTLP's hash for files without one. */
static void read_build_id(struct otlp *o, const struct proto_field *field, struct cursor *c,
	struct strbuf *gnu, struct strbuf *hash)
{
	struct proto_numbers numbers = proto_numbers(c, field, PROTO_VARINT);
	struct otlp_attribute attribute;
	struct otlp_value value;
	struct strbuf text = {0};
	uint64_t number;
	struct cursor row;

	while (proto_number(&numbers, &number)) {
		if (!otlp_row(o, TABLE_ATTRIBUTE, number, &row, field->offset) ||
			!otlp_attribute(o, row, false, &attribute) ||
			!otlp_scalar(o, attribute.value, &text, &value) || value.is_number)
			continue;
		if (str_equal(attribute.key, STR("process.executable.build_id.gnu")))
			build_id_normalize(value.text, gnu);
		else if (str_equal(attribute.key, STR("process.executable.build_id.htlhash")))
			build_id_normalize(value.text, hash);
	}
	strbuf_deinit(&text);
}

static uint32_t add_mapping(struct otlp *o, struct cursor row)
{
	struct code_mapping mapping = {.path = STR("")};
	struct strbuf gnu = {0}, hash = {0};
	struct proto_field f;

	while (otlp_next(o, &row, &f))
		switch (f.number) {
		case MAPPING_START:
			mapping.start = f.value;
			break;
		case MAPPING_OFFSET:
			mapping.file_off = f.value;
			break;
		case MAPPING_FILE:
			mapping.path = otlp_string(o, f.value, f.offset);
			break;
		case MAPPING_ATTRIBUTE:
			read_build_id(o, &f, &row, &gnu, &hash);
			break;
		default:
			break;
		}
	mapping.build_id = strbuf_str(gnu.size ? &gnu : &hash);
	uint32_t number = mapped_code_add(o->code, &mapping);
	strbuf_deinit(&gnu);
	strbuf_deinit(&hash);
	return number;
}

/* ---- locations ---- */

struct location {
	uint32_t mapping; /* in `code` */
	uint64_t address;
	size_t lines;
};

static struct location read_location(struct otlp *o, struct cursor row)
{
	struct location l = {.mapping = MAPPING_NONE};
	struct proto_field f;

	while (otlp_next(o, &row, &f))
		switch (f.number) {
		case LOCATION_MAPPING:
			if (f.value >= o->message->rows[TABLE_MAPPING].count)
				fault_add(&o->faults[FAULT_ROW], f.offset);
			else if (f.value)
				l.mapping = o->message->first_mapping + (uint32_t)f.value;
			break;
		case LOCATION_ADDRESS:
			l.address = f.value;
			break;
		case LOCATION_LINE:
			l.lines += f.type == PROTO_BYTES;
			break;
		default:
			break;
		}
	return l;
}

void otlp_want_names(struct otlp *o)
{
	struct otlp_message *m = o->message;
	struct cursor row;

	for (size_t i = 0; i < m->rows[TABLE_MAPPING].count; i++) {
		if (!otlp_row(o, TABLE_MAPPING, i, &row, 0))
			cursor_init(&row, "", 0, o->input->name, 0);
		uint32_t number = add_mapping(o, row);

		if (i == 0)
			m->first_mapping = number;
	}
	for (size_t i = 1; i < m->rows[TABLE_LOCATION].count; i++) {
		if (!otlp_row(o, TABLE_LOCATION, i, &row, 0))
			continue;
		struct location l = read_location(o, row);

		if (l.lines == 0)
			mapped_code_want(o->code, l.mapping, l.address);
	}
}

/* Reads the function and the number of a line. */
static void read_line(struct otlp *o, struct cursor row, uint64_t *function, uint32_t *line)
{
	struct proto_field f;

	*function = *line = 0;
	while (otlp_next(o, &row, &f)) {
		if (f.number == LINE_FUNCTION)
			*function = f.value;
		else if (f.number == LINE_LINE && f.value <= UINT32_MAX)
			*line = (uint32_t)f.value;
	}
}

struct function_row {
	struct str name, system_name, file;
	uint32_t line;
};

static void read_function(struct otlp *o, uint64_t number, struct function_row *function)
{
	struct proto_field f;
	struct cursor row;

	*function = (struct function_row){STR(""), STR(""), STR(""), 0};
	if (number == 0 || !otlp_row(o, TABLE_FUNCTION, number, &row, 0))
		return;
	while (otlp_next(o, &row, &f))
		switch (f.number) {
		case FUNCTION_NAME:
			function->name = otlp_string(o, f.value, f.offset);
			break;
		case FUNCTION_SYSTEM_NAME:
			function->system_name = otlp_string(o, f.value, f.offset);
			break;
		case FUNCTION_FILE:
			function->file = otlp_string(o, f.value, f.offset);
			break;
		case FUNCTION_START_LINE:
			function->line = f.value <= UINT32_MAX ? (uint32_t)f.value : 0;
			break;
		default:
			break;
		}
}

static frame_id make_frame(
	struct otlp *o, const struct location *l, struct cursor line_row, bool is_inline)
{
	struct builder *b = o->builder;
	struct function_row function;
	uint64_t number;
	uint32_t line;

	read_line(o, line_row, &number, &line);
	read_function(o, number, &function);
	struct str name = function.name.size ? function.name : function.system_name;
	string_id file = builder_string(b, function.file);

	if (name.size == 0)
		name = STR("[unknown]");
	function_id id = builder_function(b, builder_string(b, demangle(o->demangler, name)),
		mapped_code_object(o->code, l->mapping), file, function.line);
	return builder_frame(b, id, file, line, is_inline,
		l->address ? mapped_code_obj_addr(o->code, l->mapping, l->address) : 0);
}

/* Adds a location's frames to words. */
static void make_frames(struct otlp *o, struct cursor row)
{
	struct location l = read_location(o, row);
	struct proto_field f;
	size_t left = l.lines;

	if (l.lines == 0) {
		struct mapped_frames frames = mapped_code_frames(o->code, l.mapping, l.address);

		vec_push(&o->words, frames.count);
		for (uint32_t i = 0; i < frames.count; i++)
			vec_push(&o->words, frames.frames[i].i);
		return;
	}
	vec_push(&o->words, (uint32_t)l.lines);
	while (otlp_next(o, &row, &f)) {
		if (f.number != LOCATION_LINE || f.type != PROTO_BYTES)
			continue;
		left--;
		vec_push(&o->words, make_frame(o, &l, proto_message(&row, &f), left > 0).i);
	}
}

/* Where a location's frames begin in words; decodes the location if necessary. */
static uint32_t location_frames(struct otlp *o, uint64_t number, uint64_t offset)
{
	struct otlp_message *m = o->message;
	struct cursor row;

	if (number >= m->rows[TABLE_LOCATION].count) {
		fault_add(&o->faults[FAULT_ROW], offset);
		return UINT32_MAX;
	}
	if (m->locations[number])
		return m->locations[number] - 1;
	if (number == 0 || !otlp_row(o, TABLE_LOCATION, number, &row, offset))
		return UINT32_MAX;
	m->locations[number] = (uint32_t)o->words.count + 1;
	make_frames(o, row);
	return m->locations[number] - 1;
}

/* ---- stacks ---- */

/* Adds a location's frames to the stack, the outermost first. */
static bool add_frames(struct otlp *o, uint32_t words, stack_id *stack)
{
	for (uint32_t i = o->words.data[words]; i > 0; i--) {
		if (o->steps_left == 0)
			return false;
		o->steps_left--;
		*stack = builder_stack(o->builder, *stack, (frame_id){o->words.data[words + i]});
	}
	return true;
}

static stack_id make_stack(struct otlp *o, struct cursor row)
{
	stack_id stack = {0};
	struct proto_field f;
	uint64_t location;

	o->scratch.count = 0;
	while (otlp_next(o, &row, &f)) {
		struct proto_numbers numbers = proto_numbers(&row, &f, PROTO_VARINT);

		while (f.number == STACK_LOCATION && proto_number(&numbers, &location)) {
			uint32_t words = location_frames(o, location, f.offset);

			if (words != UINT32_MAX)
				vec_push(&o->scratch, words);
		}
	}
	for (size_t i = o->scratch.count; i > 0; i--)
		if (!add_frames(o, o->scratch.data[i - 1], &stack)) {
			o->cut_stacks++;
			break;
		}
	return stack;
}

bool otlp_stack(struct otlp *o, uint64_t number, uint64_t offset, stack_id *stack)
{
	struct otlp_message *m = o->message;
	struct cursor row;

	*stack = (stack_id){0};
	if (number == 0)
		return true;
	if (!otlp_row(o, TABLE_STACK, number, &row, offset))
		return false;
	if (m->stacks == NULL) {
		m->stacks = xcalloc(m->rows[TABLE_STACK].count, sizeof(*m->stacks));
		m->locations = xcalloc(m->rows[TABLE_LOCATION].count, sizeof(*m->locations));
	}
	if (m->stacks[number] == 0)
		m->stacks[number] = make_stack(o, row).i + 1;
	stack->i = m->stacks[number] - 1;
	return true;
}
