/*
 * SYMBOLS chunks.  Each string and each function (name, file, line, aliases) is stored once.  An
 * address only has its functions' numbers, as columns of differences that are mostly 0 or 1, since
 * both addresses and functions are sorted.  See capture_symbols.h.
 */
#include "formats/sonde/layout/capture_symbols.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/vec.h"
#include "base/wire.h"

enum { FRAME_IS_INLINE = 1, FRAME_IS_NAMELESS = 2, FRAME_HAS_GUESSED_START = 4 };

enum column {
	COLUMN_FUNCTION_NAME, /* per function in the table: differences of string numbers */
	COLUMN_FUNCTION_FILE,
	COLUMN_FUNCTION_LINE,
	COLUMN_COUNT,	 /* per address: its number of frames */
	COLUMN_FLAGS,	 /* per frame */
	COLUMN_FUNCTION, /* difference from the previous frame */
	COLUMN_FILE,	 /* difference between string numbers of the place's file and the
			    function's */
	COLUMN_LINE,	 /* difference between the place's line and the function's */
	COLUMN_ALIASES,	 /* per function: difference of string numbers; not in old files */
	COLUMNS
};

struct address {
	uint32_t object;
	uint64_t obj_addr;
};

/* As numbers of strings. */
struct function {
	uint32_t name, file, line, aliases;
};

struct capture_symbols_encoder {
	struct arena *arena;
	struct str_table strings;
	size_t string_bytes;
	struct map function_numbers; /* (name and file, aliases and line) → functions */
	VEC(struct function) functions;
	VEC(struct address) addresses;
	uint32_t function_before;
	struct strbuf columns[COLUMNS];
};

struct capture_symbols_encoder *capture_symbols_encoder_create(void)
{
	struct capture_symbols_encoder *e = xalloc(sizeof(*e));

	e->arena = arena_create();
	str_table_init(&e->strings, e->arena);
	return e;
}

void capture_symbols_encoder_destroy(struct capture_symbols_encoder *e)
{
	if (e == NULL)
		return;
	str_table_deinit(&e->strings);
	arena_destroy(e->arena);
	map_deinit(&e->function_numbers);
	vec_deinit(&e->functions);
	vec_deinit(&e->addresses);
	for (int i = 0; i < COLUMNS; i++)
		strbuf_deinit(&e->columns[i]);
	free(e);
}

static uint32_t string_number(struct capture_symbols_encoder *e, struct str s)
{
	size_t before = e->strings.count;

	if (s.size > CAPTURE_NAME_MAX)
		s.size = CAPTURE_NAME_MAX;
	uint32_t number = str_table_intern(&e->strings, s);
	if (e->strings.count > before)
		e->string_bytes += s.size + 3;
	return number;
}

static void put_difference(
	struct capture_symbols_encoder *e, enum column column, uint32_t value, uint32_t base)
{
	wire_put_sleb(&e->columns[column], (int64_t)value - (int64_t)base);
}

static void put_function(struct capture_symbols_encoder *e, struct function f)
{
	struct function before = {0};

	if (e->functions.count)
		before = e->functions.data[e->functions.count - 1];
	put_difference(e, COLUMN_FUNCTION_NAME, f.name, before.name);
	put_difference(e, COLUMN_FUNCTION_FILE, f.file, before.file);
	put_difference(e, COLUMN_FUNCTION_LINE, f.line, before.line);
	put_difference(e, COLUMN_ALIASES, f.aliases, before.aliases);
	vec_push(&e->functions, f);
}

static uint32_t function_number(
	struct capture_symbols_encoder *e, const struct capture_symbol_frame *frame)
{
	bool added;
	struct function f = {.name = string_number(e, frame->function),
		.file = string_number(e, frame->function_file),
		.line = frame->function_line,
		.aliases = string_number(e, frame->aliases)};
	uint32_t number = *map_at(&e->function_numbers, (uint64_t)f.name << 32 | f.file,
		(uint64_t)f.aliases << 32 | f.line, (uint32_t)e->functions.count, &added);

	if (added)
		put_function(e, f);
	return number;
}

static void put_frame(struct capture_symbols_encoder *e, const struct capture_symbol_frame *frame)
{
	uint32_t number = function_number(e, frame);
	struct function f = e->functions.data[number];

	int flags = (frame->is_inline ? FRAME_IS_INLINE : 0) |
		    (frame->is_nameless ? FRAME_IS_NAMELESS : 0) |
		    (frame->is_guessed_start ? FRAME_HAS_GUESSED_START : 0);
	strbuf_add_char(&e->columns[COLUMN_FLAGS], (char)flags);
	put_difference(e, COLUMN_FUNCTION, number, e->function_before);
	put_difference(e, COLUMN_FILE, string_number(e, frame->file), f.file);
	put_difference(e, COLUMN_LINE, frame->line, f.line);
	e->function_before = number;
}

void capture_symbols_add(struct capture_symbols_encoder *e, uint32_t object, uint64_t obj_addr,
	const struct capture_symbol_frame *frames, uint32_t count)
{
	uint32_t kept = count < CAPTURE_CHAIN_MAX ? count : CAPTURE_CHAIN_MAX;

	assert(count > 0);
	vec_push(&e->addresses, (struct address){object, obj_addr});
	wire_put_uleb(&e->columns[COLUMN_COUNT], kept);
	for (uint32_t i = 0; i + 1 < kept; i++)
		put_frame(e, &frames[i]);
	put_frame(e, &frames[count - 1]);
}

size_t capture_symbols_waiting(const struct capture_symbols_encoder *e)
{
	size_t size = e->string_bytes + e->addresses.count * 4;

	for (int i = 0; i < COLUMNS; i++)
		size += e->columns[i].size;
	return size;
}

/* Runs of one object: the object, how many, the first address, then differences. */
static void addresses_encode(const struct capture_symbols_encoder *e, struct strbuf *out)
{
	size_t count = e->addresses.count;

	for (size_t i = 0; i < count;) {
		const struct address *a = e->addresses.data;
		uint32_t object = a[i].object;
		uint64_t before = 0;
		size_t end = i;
		while (end < count && a[end].object == object)
			end++;
		wire_put_uleb(out, object);
		wire_put_uleb(out, end - i);
		for (; i < end; i++) {
			wire_put_uleb(out, a[i].obj_addr - before);
			before = a[i].obj_addr;
		}
	}
}

static void symbols_clear(struct capture_symbols_encoder *e)
{
	str_table_deinit(&e->strings);
	arena_destroy(e->arena);
	e->arena = arena_create();
	str_table_init(&e->strings, e->arena);
	e->string_bytes = 0;
	map_deinit(&e->function_numbers);
	e->functions.count = e->addresses.count = 0;
	e->function_before = 0;
	for (int i = 0; i < COLUMNS; i++)
		strbuf_clear(&e->columns[i]);
}

void capture_symbols_encode(struct capture_symbols_encoder *e, struct strbuf *out)
{
	struct strbuf addresses = {0};

	addresses_encode(e, &addresses);
	wire_put_uleb(out, e->strings.count);
	for (size_t i = 0; i < e->strings.count; i++)
		wire_put_str(out, e->strings.strings[i]);
	wire_put_uleb(out, e->functions.count);
	wire_put_uleb(out, e->addresses.count);
	wire_put_str(out, strbuf_str(&addresses));
	for (int i = 0; i < COLUMNS; i++)
		wire_put_str(out, strbuf_str(&e->columns[i]));
	strbuf_deinit(&addresses);
	symbols_clear(e);
}

/* Adds the next difference of a column to base; the result must be below limit. */
static uint64_t get_number(struct cursor *column, uint64_t base, uint64_t limit)
{
	int64_t difference = wire_sleb(column);
	int64_t value;

	if (!__builtin_add_overflow((int64_t)base, difference, &value) && value >= 0 &&
		(uint64_t)value < limit)
		return (uint64_t)value;
	cursor_fail(column, "a number out of range");
	return 0;
}

static void strings_decode(
	struct capture_symbols_decoder *d, struct cursor *payload, struct arena *arena)
{
	d->string_count = wire_uleb(payload);
	if (d->string_count > cursor_left(payload))
		cursor_fail(payload, "more strings than there are bytes for");
	if (!cursor_ok(payload))
		return;
	d->strings = ARENA_ARRAY(arena, struct str, d->string_count + 1);
	for (uint64_t i = 0; i < d->string_count && cursor_ok(payload); i++)
		d->strings[i] = wire_str(payload);
}

/* Decodes the last column, which may be missing. */
static void aliases_decode(struct capture_symbols_decoder *d, struct cursor *payload)
{
	uint64_t number = 0;

	if (!cursor_ok(payload) || cursor_at_end(payload))
		return;
	struct cursor aliases = wire_column(payload);
	for (uint64_t i = 0; i < d->function_count && cursor_ok(payload); i++) {
		number = get_number(&aliases, number, d->string_count);
		if (cursor_ok(&aliases))
			d->functions[i].aliases = d->strings[number];
		else
			cursor_fail(payload, "a function with missing aliases");
	}
}

static void functions_decode(
	struct capture_symbols_decoder *d, struct cursor *payload, struct arena *arena)
{
	struct cursor names = wire_column(payload), files = wire_column(payload);
	struct cursor lines = wire_column(payload);
	uint64_t name = 0, file = 0, line = 0;

	if (d->function_count > cursor_left(&names))
		cursor_fail(payload, "more functions than there are bytes for");
	if (!cursor_ok(payload))
		return;
	d->functions = ARENA_ARRAY(arena, struct capture_function, d->function_count + 1);
	for (uint64_t i = 0; i < d->function_count; i++) {
		name = get_number(&names, name, d->string_count);
		file = get_number(&files, file, d->string_count);
		line = get_number(&lines, line, (uint64_t)UINT32_MAX + 1);
		if (!cursor_ok(&names) || !cursor_ok(&files) || !cursor_ok(&lines)) {
			cursor_fail(payload, "a function without a name or a place");
			return;
		}
		d->functions[i] = (struct capture_function){.name = d->strings[name],
			.file = d->strings[file],
			.line = (uint32_t)line,
			.file_number = (uint32_t)file};
	}
}

struct error *capture_symbols_begin(
	struct capture_symbols_decoder *d, struct cursor *payload, struct arena *arena)
{
	*d = (struct capture_symbols_decoder){0};
	strings_decode(d, payload, arena);
	d->function_count = wire_uleb(payload);
	d->left = wire_uleb(payload);
	d->addresses = wire_column(payload);
	functions_decode(d, payload, arena);
	d->counts = wire_column(payload);
	d->flags = wire_column(payload);
	d->function_numbers = wire_column(payload);
	d->files = wire_column(payload);
	d->lines = wire_column(payload);
	aliases_decode(d, payload);
	if (d->left > cursor_left(&d->counts))
		cursor_fail(payload, "more symbols than there are bytes for");
	return cursor_error(payload);
}

bool capture_symbols_next(struct capture_symbols_decoder *d, struct capture_symbol *symbol)
{
	struct capture_symbol *b = &d->before;

	if (d->left == 0)
		return false;
	d->left--;
	if (d->run_left == 0) {
		b->object = (uint32_t)cursor_uleb_to(&d->addresses, CAPTURE_NO_ID);
		b->obj_addr = 0;
		d->run_left = wire_uleb(&d->addresses);
		if (d->run_left == 0)
			cursor_fail(&d->addresses, "a run of symbols without a symbol");
	}
	d->run_left--;
	b->obj_addr += wire_uleb(&d->addresses);
	b->count = (uint32_t)cursor_uleb_to(&d->counts, CAPTURE_CHAIN_MAX);
	if (b->count == 0)
		cursor_fail(&d->counts, "a symbol without a name");
	*symbol = *b;
	return cursor_ok(&d->addresses) && cursor_ok(&d->counts);
}

bool capture_symbols_frame(struct capture_symbols_decoder *d, struct capture_symbol_frame *frame)
{
	uint8_t flags = cursor_u8(&d->flags);

	d->function = get_number(&d->function_numbers, d->function, d->function_count);
	if (!cursor_ok(&d->function_numbers))
		return false;
	const struct capture_function *f = &d->functions[d->function];
	uint64_t file = get_number(&d->files, f->file_number, d->string_count);
	uint64_t line = get_number(&d->lines, f->line, (uint64_t)UINT32_MAX + 1);
	if (!cursor_ok(&d->files) || !cursor_ok(&d->lines) || !cursor_ok(&d->flags))
		return false;
	*frame = (struct capture_symbol_frame){.function = f->name,
		.function_file = f->file,
		.function_line = f->line,
		.file = d->strings[file],
		.line = (uint32_t)line,
		.is_inline = flags & FRAME_IS_INLINE,
		.is_nameless = flags & FRAME_IS_NAMELESS,
		.is_guessed_start = flags & FRAME_HAS_GUESSED_START,
		.aliases = f->aliases};
	return true;
}

struct error *capture_symbols_error(const struct capture_symbols_decoder *d)
{
	const struct cursor *columns[] = {
		&d->addresses, &d->counts, &d->flags, &d->function_numbers, &d->files, &d->lines};

	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		if (!cursor_ok(columns[i]))
			return cursor_error(columns[i]);
	return NULL;
}
