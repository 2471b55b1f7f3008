/*
 * The dictionary of written OTLP profiles.  See writer.h.
 *
 * It is written in pieces, each a field with the same number.  Readers merge a message that is
 * split into several fields (protobuf.dev/programming-guides/encoding, "Last One Wins").  So only
 * one piece at a time is in memory twice.
 */
#include "formats/otlp/writer.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/escape.h"

enum { PIECE_BYTES = 1 << 18 };

uint32_t otlp_writer_row(struct otlp_writer *w, uint32_t table, struct str bytes)
{
	return str_table_intern(&w->tables[table], bytes);
}

uint32_t otlp_writer_text(struct otlp_writer *w, struct str text)
{
	struct strbuf escaped = {0};

	escape_text(&escaped, text);
	uint32_t number = otlp_writer_row(w, TABLE_STRING, strbuf_str(&escaped));
	strbuf_deinit(&escaped);
	return number;
}

uint32_t otlp_writer_string(struct otlp_writer *w, string_id id)
{
	uint32_t *number = &w->string_number[id.i];

	if (*number == 0)
		*number = otlp_writer_text(w, profile_string(w->profile, id)) + 1;
	return *number - 1;
}

static void put_number(struct strbuf *out, uint32_t field, uint64_t value)
{
	if (value)
		proto_put_varint(out, field, value);
}

uint32_t otlp_writer_attribute(
	struct otlp_writer *w, uint32_t key, struct str any_value, uint32_t unit)
{
	strbuf_clear(&w->row);
	put_number(&w->row, ATTRIBUTE_KEY, key);
	proto_put_bytes(&w->row, ATTRIBUTE_VALUE, any_value);
	put_number(&w->row, ATTRIBUTE_UNIT, unit);
	return otlp_writer_row(w, TABLE_ATTRIBUTE, strbuf_str(&w->row));
}

/* ---- locations ---- */

/*
 * 32 digits are OTLP's hash for files without a build ID (half of a SHA-256).  Build IDs by linkers
 * have another length by default.
 */
static uint32_t build_id_attribute(struct otlp_writer *w, string_id build_id)
{
	struct str id = profile_string(w->profile, build_id);
	struct strbuf value = {0};

	proto_put_string(&value, VALUE_STRING, id);
	uint32_t row = otlp_writer_attribute(w,
		otlp_writer_text(w, id.size == 32 ? STR("process.executable.build_id.htlhash")
						  : STR("process.executable.build_id.gnu")),
		strbuf_str(&value), 0);
	strbuf_deinit(&value);
	return row;
}

static uint32_t mapping_of(struct otlp_writer *w, object_id object)
{
	if (object.i == NO_ID)
		return 0;
	const struct object *o = &w->profile->objects[object.i];
	uint32_t file = otlp_writer_string(w, o->path);
	uint32_t attribute = o->build_id.i ? build_id_attribute(w, o->build_id) : 0;

	strbuf_clear(&w->row);
	put_number(&w->row, MAPPING_FILE, file);
	if (attribute) {
		size_t begun = proto_begin(&w->row, MAPPING_ATTRIBUTE);

		proto_put_packed(&w->row, attribute);
		proto_end(&w->row, begun);
	}
	return otlp_writer_row(w, TABLE_MAPPING, strbuf_str(&w->row));
}

/* A line has no file in the format, so its function gets the file of the place. */
static uint32_t function_of(struct otlp_writer *w, const struct frame *frame)
{
	const struct function *f = &w->profile->functions[frame->function.i];
	uint32_t name =
		f->name.i ? otlp_writer_string(w, f->name) : otlp_writer_text(w, STR("[unknown]"));
	uint32_t file = otlp_writer_string(w, frame->file.i ? frame->file : f->file);

	strbuf_clear(&w->row);
	put_number(&w->row, FUNCTION_NAME, name);
	put_number(&w->row, FUNCTION_FILE, file);
	put_number(&w->row, FUNCTION_START_LINE, f->line);
	return otlp_writer_row(w, TABLE_FUNCTION, strbuf_str(&w->row));
}

static void put_line(struct otlp_writer *w, struct strbuf *out, const struct frame *frame)
{
	uint32_t function = function_of(w, frame);
	size_t begun = proto_begin(out, LOCATION_LINE);

	put_number(out, LINE_FUNCTION, function);
	put_number(out, LINE_LINE, frame->line);
	proto_end(out, begun);
}

static uint32_t make_location(struct otlp_writer *w, uint32_t leaf)
{
	const struct profile *p = w->profile;
	const struct frame *outermost = code_places_outermost(&w->places, p, leaf);
	struct strbuf location = {0};

	put_number(&location, LOCATION_MAPPING,
		mapping_of(w, p->functions[outermost->function.i].object));
	put_number(&location, LOCATION_ADDRESS, code_places_frame(&w->places, p, leaf)->obj_addr);
	for (uint32_t place = leaf; place; place = code_places_outer(&w->places, place))
		put_line(w, &location, code_places_frame(&w->places, p, place));
	uint32_t row = otlp_writer_row(w, TABLE_LOCATION, strbuf_str(&location));
	strbuf_deinit(&location);
	return row;
}

static uint32_t location_of(struct otlp_writer *w, uint32_t place)
{
	uint32_t *row = &w->location_of[place];

	if (*row == 0)
		*row = make_location(w, place) + 1;
	return *row - 1;
}

/* ---- stacks ---- */

/* Calls back for each location of a stack, leaf first. */
static void put_locations(struct otlp_writer *w, stack_id stack, struct strbuf *out)
{
	for (; stack.i; stack = code_places_caller(&w->places, w->profile, stack)) {
		uint32_t location = location_of(w, w->places.of_stack[stack.i]);

		if (out)
			proto_put_packed(out, location);
	}
}

uint32_t otlp_writer_stack(struct otlp_writer *w, stack_id stack)
{
	if (stack.i == 0 || w->stack_number[stack.i])
		return w->stack_number[stack.i];
	vec_push(&w->stacks, stack.i);
	w->stack_number[stack.i] = (uint32_t)w->stacks.count;
	return w->stack_number[stack.i];
}

/* ---- all of it ---- */

/* Writes the piece in scratch if it is long enough or the last one. */
static bool put_piece(struct otlp_writer *w, struct strbuf *piece, bool is_last)
{
	if (piece->size < PIECE_BYTES && !is_last)
		return true;
	if (piece->size)
		proto_put_bytes(&w->sink->text, DATA_DICTIONARY, strbuf_str(piece));
	strbuf_clear(piece);
	return sink_settle(w->sink);
}

static void put_stacks(struct otlp_writer *w, struct strbuf *piece)
{
	proto_put_bytes(piece, TABLE_STACK, STR(""));
	for (size_t i = 0; i < w->stacks.count; i++) {
		size_t begun = proto_begin(piece, TABLE_STACK);
		size_t list = proto_begin(piece, STACK_LOCATION);

		put_locations(w, (stack_id){w->stacks.data[i]}, piece);
		proto_end(piece, list);
		proto_end(piece, begun);
		if (!put_piece(w, piece, false))
			return;
	}
}

void otlp_put_dictionary(struct otlp_writer *w)
{
	/* Each table comes before those it refers to, because writing it adds rows to them. */
	static const uint32_t order[] = {TABLE_LOCATION, TABLE_FUNCTION, TABLE_MAPPING,
		TABLE_ATTRIBUTE, TABLE_LINK, TABLE_STRING};
	struct strbuf piece = {0};

	put_stacks(w, &piece);
	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		const struct str_table *table = &w->tables[order[i]];

		for (size_t k = 0; k < table->count; k++) {
			proto_put_bytes(&piece, order[i], table->strings[k]);
			if (!put_piece(w, &piece, false))
				break;
		}
	}
	(void)put_piece(w, &piece, true);
	strbuf_deinit(&piece);
}

void otlp_writer_tables_init(
	struct otlp_writer *w, const struct profile *profile, struct sink *sink)
{
	*w = (struct otlp_writer){.profile = profile, .sink = sink, .arena = arena_create()};
	for (int i = 0; i < TABLE_COUNT; i++) {
		str_table_init(&w->tables[i], w->arena);
		(void)str_table_intern(&w->tables[i], STR(""));
	}
	w->string_number = xcalloc(profile->string_count, sizeof(*w->string_number));
	w->stack_number = xcalloc(profile->stack_count, sizeof(*w->stack_number));
	code_places_init(&w->places, profile);
	w->location_of = xcalloc(code_places_count(&w->places), sizeof(*w->location_of));
}

void otlp_writer_tables_deinit(struct otlp_writer *w)
{
	for (int i = 0; i < TABLE_COUNT; i++)
		str_table_deinit(&w->tables[i]);
	free(w->string_number);
	free(w->stack_number);
	vec_deinit(&w->stacks);
	code_places_deinit(&w->places);
	free(w->location_of);
	strbuf_deinit(&w->row);
	arena_destroy(w->arena);
}
