/*
 * SYMBOLS chunks: a string table, then a row for each address.  See capture_symbols.h.
 */
#include "format/capture_symbols.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/map.h"
#include "format/wire.h"

enum { FRAME_IS_INLINE = 1 };

struct capture_symbols_encoder {
	struct arena *arena;
	struct str_table strings;
	size_t string_bytes;
	struct strbuf rows;
	uint64_t count;
	uint32_t object_before;
	uint64_t obj_addr_before;
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
	strbuf_deinit(&e->rows);
	free(e);
}

static void put_name(struct capture_symbols_encoder *e, struct str name)
{
	if (name.size > CAPTURE_NAME_MAX)
		name.size = CAPTURE_NAME_MAX;
	size_t before = e->strings.count;
	wire_put_uleb(&e->rows, str_table_intern(&e->strings, name));
	if (e->strings.count > before)
		e->string_bytes += name.size + 2;
}

static void put_frame(struct capture_symbols_encoder *e, const struct capture_symbol_frame *f)
{
	wire_put_uleb(&e->rows, f->is_inline ? FRAME_IS_INLINE : 0);
	put_name(e, f->function);
	put_name(e, f->function_file);
	wire_put_uleb(&e->rows, f->function_line);
	put_name(e, f->file);
	wire_put_uleb(&e->rows, f->line);
}

void capture_symbols_add(struct capture_symbols_encoder *e, uint32_t object, uint64_t obj_addr,
	const struct capture_symbol_frame *frames, uint32_t count)
{
	uint32_t kept = count < CAPTURE_CHAIN_MAX ? count : CAPTURE_CHAIN_MAX;

	assert(count > 0);
	wire_put_sleb(&e->rows, (int64_t)object - (int64_t)e->object_before);
	wire_put_sleb(&e->rows, (int64_t)(obj_addr - e->obj_addr_before));
	wire_put_uleb(&e->rows, kept);
	for (uint32_t i = 0; i + 1 < kept; i++)
		put_frame(e, &frames[i]);
	put_frame(e, &frames[count - 1]);
	e->object_before = object;
	e->obj_addr_before = obj_addr;
	e->count++;
}

size_t capture_symbols_waiting(const struct capture_symbols_encoder *e)
{
	return e->rows.size + e->string_bytes;
}

void capture_symbols_encode(struct capture_symbols_encoder *e, struct strbuf *out)
{
	wire_put_uleb(out, e->strings.count);
	for (size_t i = 0; i < e->strings.count; i++)
		wire_put_str(out, e->strings.strings[i]);
	wire_put_uleb(out, e->count);
	strbuf_add(out, strbuf_str(&e->rows));
	str_table_deinit(&e->strings);
	arena_destroy(e->arena);
	e->arena = arena_create();
	str_table_init(&e->strings, e->arena);
	strbuf_clear(&e->rows);
	e->string_bytes = 0;
	e->count = e->obj_addr_before = 0;
	e->object_before = 0;
}

struct error *capture_symbols_begin(
	struct capture_symbols_decoder *d, struct cursor *payload, struct arena *arena)
{
	*d = (struct capture_symbols_decoder){.string_count = wire_uleb(payload)};
	if (d->string_count > cursor_left(payload))
		cursor_fail(payload, "more strings than there are bytes for");
	if (cursor_ok(payload))
		d->strings = ARENA_ARRAY(arena, struct str, d->string_count + 1);
	for (uint64_t i = 0; i < d->string_count && cursor_ok(payload); i++)
		d->strings[i] = wire_str(payload);
	d->left = wire_uleb(payload);
	if (d->left > cursor_left(payload))
		cursor_fail(payload, "more symbols than there are bytes for");
	d->rows = *payload;
	return cursor_error(payload);
}

bool capture_symbols_next(struct capture_symbols_decoder *d, struct capture_symbol *symbol)
{
	struct capture_symbol *b = &d->before;

	if (d->left == 0 || !cursor_ok(&d->rows))
		return false;
	d->left--;
	int64_t object = wire_sleb(&d->rows);
	b->object += (uint32_t)object; /* wraps for hostile bytes only: then no frame has it */
	b->obj_addr += (uint64_t)wire_sleb(&d->rows);
	b->count = (uint32_t)cursor_uleb_to(&d->rows, CAPTURE_CHAIN_MAX);
	if (b->count == 0)
		cursor_fail(&d->rows, "a symbol without a name");
	*symbol = *b;
	return cursor_ok(&d->rows);
}

static struct str get_name(struct capture_symbols_decoder *d)
{
	uint64_t index = wire_uleb(&d->rows);

	if (index < d->string_count)
		return d->strings[index];
	cursor_fail(&d->rows, "a name that is not in the table");
	return STR("");
}

void capture_symbols_frame(struct capture_symbols_decoder *d, struct capture_symbol_frame *frame)
{
	frame->is_inline = wire_uleb(&d->rows) & FRAME_IS_INLINE;
	frame->function = get_name(d);
	frame->function_file = get_name(d);
	frame->function_line = (uint32_t)cursor_uleb_to(&d->rows, UINT32_MAX);
	frame->file = get_name(d);
	frame->line = (uint32_t)cursor_uleb_to(&d->rows, UINT32_MAX);
}
