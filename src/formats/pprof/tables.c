/*
 * The tables of a pprof profile: strings, mappings, functions and locations.  See reader.h.
 *
 * Ids are any numbers except zero.  Most writers count from 1, and a row's id is then its number;
 * other ids (hashes, addresses) are sorted.
 */
#include "formats/pprof/reader.h"

#include <stdlib.h>

#include "base/sort.h"

static struct cursor whole_file(const struct pprof *p)
{
	struct cursor c;

	cursor_init(&c, p->input->data, p->input->size, p->input->name, 0);
	return c;
}

static uint64_t place_in(const struct pprof *p, const uint8_t *at)
{
	return (uint64_t)(at - p->input->data);
}

/* The field at an offset. */
static struct proto_field field_at(const struct pprof *p, uint32_t offset)
{
	struct cursor c = whole_file(p);
	struct proto_field field = {.bytes = STR("")};

	cursor_seek(&c, offset);
	(void)proto_next(&c, &field);
	return field;
}

static struct cursor message_at(const struct pprof *p, uint32_t offset)
{
	struct cursor c = whole_file(p);
	struct proto_field field = field_at(p, offset);

	return proto_message(&c, &field);
}

struct str pprof_string(struct pprof *p, uint64_t number, uint64_t offset)
{
	if (number < p->string_count)
		return field_at(p, p->string_at[number]).bytes;
	if (number)
		fault_add(&p->faults[FAULT_STRING], offset);
	return STR("");
}

/* ---- rows by id ---- */

/* The id of a row; 0: none.  All known writers put it first. */
static uint64_t row_id(struct cursor message)
{
	struct proto_field field;

	while (proto_next(&message, &field))
		if (field.number == ROW_ID && field.type == PROTO_VARINT)
			return field.value;
	return 0;
}

static void rows_count(struct pprof_rows *rows, uint64_t id)
{
	if (id > rows->id_max)
		rows->id_max = id;
	rows->found++;
}

/* Indexes rows by number, if few numbers are unused. */
static void rows_make(struct pprof_rows *rows)
{
	if (rows->id_max <= rows->found + rows->found / 4 + 1024) {
		rows->count = (size_t)rows->id_max + 1;
		rows->at = xcalloc(rows->count, sizeof(*rows->at));
		return;
	}
	rows->ids = xcalloc(rows->found, sizeof(*rows->ids));
	rows->at = xcalloc(rows->found, sizeof(*rows->at));
}

struct id_place {
	uint64_t id;
	uint32_t at;
};

static int id_place_compare(const void *a, const void *b)
{
	const struct id_place *x = a, *y = b;

	return COMPARE(x->id, y->id) ?: COMPARE(x->at, y->at);
}

/* Sorts rows whose ids are not numbers; of several with one id, the first stays. */
static void rows_sort(struct pprof *p, struct pprof_rows *rows)
{
	struct id_place *places = xcalloc(rows->count, sizeof(*places));
	size_t count = 0;

	for (size_t i = 0; i < rows->count; i++)
		places[i] = (struct id_place){rows->ids[i], rows->at[i]};
	if (rows->count)
		qsort(places, rows->count, sizeof(*places), id_place_compare);
	for (size_t i = 0; i < rows->count; i++) {
		if (count && rows->ids[count - 1] == places[i].id) {
			fault_add(&p->faults[FAULT_ROW], places[i].at);
			continue;
		}
		rows->ids[count] = places[i].id;
		rows->at[count++] = places[i].at;
	}
	rows->count = count;
	free(places);
}

static void rows_add(struct pprof *p, struct pprof_rows *rows, uint64_t id, uint64_t offset)
{
	uint32_t at = (uint32_t)offset + 1;

	if (id == 0 || (rows->ids == NULL && rows->at[id])) {
		fault_add(&p->faults[FAULT_ROW], offset);
		return;
	}
	if (rows->ids == NULL) {
		rows->at[id] = at;
		return;
	}
	rows->ids[rows->count] = id;
	rows->at[rows->count++] = at;
}

/* The number of the row with an id; false: there is none. */
bool pprof_row_find(const struct pprof_rows *rows, uint64_t id, size_t *row)
{
	size_t low = 0, high = rows->count;

	if (rows->ids == NULL) {
		*row = (size_t)id;
		return id < rows->count && rows->at[id];
	}
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (rows->ids[middle] < id)
			low = middle + 1;
		else
			high = middle;
	}
	*row = low;
	return low < rows->count && rows->ids[low] == id;
}

static struct cursor row_message(const struct pprof *p, const struct pprof_rows *rows, size_t row)
{
	return message_at(p, rows->at[row] - 1);
}

static void rows_deinit(struct pprof_rows *rows)
{
	free(rows->ids);
	free(rows->at);
}

/* ---- the two passes ---- */

static struct pprof_rows *rows_of_field(struct pprof *p, uint32_t number)
{
	switch (number) {
	case PROFILE_MAPPING:
		return &p->mappings;
	case PROFILE_LOCATION:
		return &p->locations;
	case PROFILE_FUNCTION:
		return &p->functions;
	default:
		return NULL;
	}
}

static bool sample_has_label(struct cursor sample)
{
	struct proto_field field;

	while (proto_next(&sample, &field))
		if (field.number == SAMPLE_LABEL)
			return true;
	return false;
}

static void take_fact(struct pprof *p, const struct cursor *c, const struct proto_field *field)
{
	struct pprof_facts *facts = &p->facts;

	if (field->number == PROFILE_PERIOD_TYPE)
		facts->period_type = proto_message(c, field);
	if (field->number < PROFILE_FIELD_COUNT) {
		facts->value[field->number] = field->value;
		facts->offset[field->number] = field->offset;
	}
}

/* Profiles cannot be concatenated: each has its own strings. */
static struct error *count_all(struct pprof *p)
{
	struct cursor c = whole_file(p);
	struct proto_field field;

	for (const uint8_t *at = c.at; proto_next(&c, &field); at = c.at) {
		struct pprof_rows *rows = rows_of_field(p, field.number);

		if (rows) {
			rows_count(rows, row_id(proto_message(&c, &field)));
		} else if (field.number == PROFILE_STRING) {
			p->string_count++;
		} else if (field.number == PROFILE_SAMPLE) {
			p->sample_count++;
			if (!p->has_labels)
				p->has_labels = sample_has_label(proto_message(&c, &field));
		} else if (field.number == PROFILE_SAMPLE_TYPE) {
			if (p->facts.types++ == 0)
				p->facts.types_at = place_in(p, at);
		} else if (field.number == PROFILE_TIME && p->facts.offset[PROFILE_TIME]) {
			return error_input(p->input->name, field.offset,
				"a second profile begins here; one a file is read");
		} else {
			take_fact(p, &c, &field);
		}
	}
	if (!cursor_ok(&c)) {
		p->problem = c.problem;
		p->problem_offset = place_in(p, c.bad);
	}
	return NULL;
}

static void note_places(struct pprof *p)
{
	struct cursor c = whole_file(p);
	struct proto_field field;
	size_t strings = 0;

	for (const uint8_t *at = c.at; proto_next(&c, &field); at = c.at) {
		struct pprof_rows *rows = rows_of_field(p, field.number);

		if (rows)
			rows_add(p, rows, row_id(proto_message(&c, &field)), place_in(p, at));
		else if (field.number == PROFILE_STRING)
			p->string_at[strings++] = (uint32_t)place_in(p, at);
	}
}

struct error *pprof_tables_read(struct pprof *p)
{
	struct pprof_rows *all[] = {&p->functions, &p->locations, &p->mappings};

	if (p->input->size >= UINT32_MAX)
		return error_new(ERROR_UNSUPPORTED,
			"%s: is larger than 4 GiB, and no pprof profile of that size is read",
			p->input->name);
	struct error *err = count_all(p);
	if (err)
		return err;
	if (p->string_count == 0)
		return error_input(p->input->name, p->problem ? p->problem_offset : p->input->size,
			"%s, before any name%s", p->problem ? p->problem : "the data ends here",
			p->sample_count ? ": the profile is cut off, or no pprof profile" : "");
	p->string_at = xcalloc(p->string_count, sizeof(*p->string_at));
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		rows_make(all[i]);
	note_places(p);
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i]->ids)
			rows_sort(p, all[i]);
	p->mapping_of_row = xcalloc(p->mappings.count, sizeof(*p->mapping_of_row));
	p->places = xcalloc(p->locations.count, sizeof(*p->places));
	return NULL;
}

void pprof_tables_deinit(struct pprof *p)
{
	rows_deinit(&p->functions);
	rows_deinit(&p->locations);
	rows_deinit(&p->mappings);
	free(p->string_at);
	free(p->mapping_of_row);
	free(p->places);
	vec_deinit(&p->frames);
}

/* ---- mappings ---- */

static uint32_t add_mapping(struct pprof *p, struct cursor message)
{
	struct code_mapping mapping = {.path = STR("")};
	struct strbuf build_id = {0};
	struct proto_field field;

	while (proto_next(&message, &field)) {
		if (field.number == MAPPING_START)
			mapping.start = field.value;
		else if (field.number == MAPPING_OFFSET)
			mapping.file_off = field.value;
		else if (field.number == MAPPING_FILE)
			mapping.path = pprof_string(p, field.value, field.offset);
		else if (field.number == MAPPING_BUILD_ID)
			build_id_normalize(pprof_string(p, field.value, field.offset), &build_id);
	}
	mapping.build_id = strbuf_str(&build_id);
	uint32_t number = mapped_code_add(p->code, &mapping);
	strbuf_deinit(&build_id);
	return number;
}

static uint32_t mapping_of_id(struct pprof *p, uint64_t id)
{
	size_t row;

	if (id == 0 || !pprof_row_find(&p->mappings, id, &row))
		return MAPPING_NONE;
	if (p->mapping_of_row[row] == 0)
		p->mapping_of_row[row] = add_mapping(p, row_message(p, &p->mappings, row)) + 1;
	return p->mapping_of_row[row] - 1;
}

/* ---- functions ---- */

struct function_row {
	struct str name, system_name, file;
	uint64_t start_line;
};

static struct function_row read_function(struct pprof *p, struct cursor message)
{
	struct function_row f = {.name = STR(""), .system_name = STR(""), .file = STR("")};
	struct proto_field field;

	while (proto_next(&message, &field)) {
		if (field.number == FUNCTION_NAME)
			f.name = pprof_string(p, field.value, field.offset);
		else if (field.number == FUNCTION_SYSTEM_NAME)
			f.system_name = pprof_string(p, field.value, field.offset);
		else if (field.number == FUNCTION_FILE)
			f.file = pprof_string(p, field.value, field.offset);
		else if (field.number == FUNCTION_START_LINE)
			f.start_line = field.value;
	}
	return f;
}

static uint32_t line_number(uint64_t line)
{
	return line > INT32_MAX ? 0 : (uint32_t)line;
}

/* The name for people; some writers only have the linker's. */
static struct str function_name(struct pprof *p, const struct function_row *f)
{
	struct str name = f->name.size ? f->name : f->system_name;

	if (name.size == 0)
		return STR("[unknown]");
	return demangle_is_mangled(name) ? demangle(p->demangler, name) : name;
}

/* ---- locations ---- */

struct location_row {
	uint64_t address;
	uint32_t mapping;
	bool has_lines;
};

static struct location_row read_location(struct pprof *p, struct cursor message)
{
	struct location_row l = {.mapping = MAPPING_NONE};
	struct proto_field field;

	while (proto_next(&message, &field)) {
		if (field.number == LOCATION_MAPPING)
			l.mapping = mapping_of_id(p, field.value);
		else if (field.number == LOCATION_ADDRESS)
			l.address = field.value;
		else if (field.number == LOCATION_LINE)
			l.has_lines = true;
	}
	return l;
}

void pprof_name_addresses(struct pprof *p)
{
	for (size_t row = 0; row < p->locations.count; row++) {
		if (p->locations.at[row] == 0)
			continue;
		struct location_row l = read_location(p, row_message(p, &p->locations, row));
		if (!l.has_lines && l.address)
			mapped_code_want(p->code, l.mapping, l.address);
	}
	mapped_code_resolve(p->code);
}

static void push_frame(struct pprof *p, frame_id frame)
{
	builder_charge(p->builder, sizeof(frame));
	vec_push(&p->frames, frame);
}

static frame_id line_frame(
	struct pprof *p, const struct location_row *l, struct cursor line, bool is_inline)
{
	struct builder *b = p->builder;
	struct function_row f = {.name = STR(""), .system_name = STR(""), .file = STR("")};
	struct proto_field field;
	uint32_t number = 0;
	size_t row;

	while (proto_next(&line, &field)) {
		if (field.number == LINE_LINE)
			number = line_number(field.value);
		else if (field.number != LINE_FUNCTION || field.value == 0)
			continue;
		else if (pprof_row_find(&p->functions, field.value, &row))
			f = read_function(p, row_message(p, &p->functions, row));
		else
			fault_add(&p->faults[FAULT_LOCATION], field.offset);
	}
	object_id object = mapped_code_object(p->code, l->mapping);
	string_id file = builder_string(b, f.file);
	function_id function = builder_function(b, builder_string(b, function_name(p, &f)), object,
		file, line_number(f.start_line));
	uint64_t addr = l->address ? mapped_code_obj_addr(p->code, l->mapping, l->address) : 0;
	return builder_frame(b, function, file, number, is_inline, addr);
}

/* All lines except the last are inlined into the next. */
static void add_lines(struct pprof *p, const struct location_row *l, struct cursor message)
{
	struct cursor line = {0};
	struct proto_field field;
	bool has_line = false;

	while (proto_next(&message, &field)) {
		if (field.number != LOCATION_LINE)
			continue;
		if (has_line)
			push_frame(p, line_frame(p, l, line, true));
		line = proto_message(&message, &field);
		has_line = true;
	}
	if (has_line)
		push_frame(p, line_frame(p, l, line, false));
}

static void add_location(struct pprof *p, size_t row)
{
	struct location_row l = read_location(p, row_message(p, &p->locations, row));
	struct pprof_place *place = &p->places[row];
	size_t first = p->frames.count;

	place->first = (uint32_t)first;
	if (l.has_lines) {
		add_lines(p, &l, row_message(p, &p->locations, row));
	} else if (l.address) {
		struct mapped_frames found = mapped_code_frames(p->code, l.mapping, l.address);

		for (uint32_t i = 0; i < found.count; i++)
			push_frame(p, found.frames[i]);
	} else {
		push_frame(p, frame_unknown(p->builder));
	}
	place->count = (uint32_t)(p->frames.count - first);
	if (p->drop)
		pprof_drop_location(p, row);
	if (place->count == 1) {
		place->only = p->frames.data[place->first];
		p->frames.count = first;
	}
}

struct mapped_frames pprof_location_new(struct pprof *p, uint64_t id, uint64_t offset)
{
	size_t row;

	if (!pprof_row_find(&p->locations, id, &row)) {
		fault_add(&p->faults[FAULT_LOCATION], offset);
		p->unknown = frame_unknown(p->builder);
		return (struct mapped_frames){&p->unknown, 1};
	}
	if (p->places[row].count == 0)
		add_location(p, row);
	return pprof_place_frames(p, &p->places[row]);
}
