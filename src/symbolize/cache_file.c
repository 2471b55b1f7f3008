/*
 * Encoding and decoding cache files.  The bytes are untrusted: the checksum detects damage, not
 * malice, so every number is checked.
 */
#include "symbolize/cache_file.h"

#include "base/cursor.h"
#include "base/hash.h"
#include "base/map.h"

#define MAGIC	     "SONDESYM"
#define HEADER_BYTES 32
#define FRAME_BYTES  28
#define PLACE_BYTES  16

enum { FLAG_NAMES = 1, FLAG_LINES = 2 };
enum { FRAME_INLINE = 1, FRAME_NAMELESS = 2, FRAME_GUESSED_START = 4 };

/* The tables that numbers in the file refer to. */
struct decoder {
	struct cursor c;
	struct arena *arena;
	struct str *strings;
	uint32_t string_count;
	struct symbol_frame *frames;
	uint32_t frame_count;
};

/*
 * A count of entries of at least that many bytes each; 0 (and bad) if the file is too short for
 * them.
 */
static uint32_t take_count(struct cursor *c, size_t entry_bytes)
{
	uint32_t count = cursor_u32(c);

	if ((uint64_t)count * entry_bytes <= cursor_left(c))
		return count;
	cursor_fail(c, "a count of more than is there");
	return 0;
}

static void decode_strings(struct decoder *d)
{
	d->string_count = take_count(&d->c, 4);
	d->strings = ARENA_ARRAY(d->arena, struct str, d->string_count);
	for (uint32_t i = 0; i < d->string_count; i++)
		d->strings[i].size = cursor_u32(&d->c);
	for (uint32_t i = 0; i < d->string_count && cursor_ok(&d->c); i++)
		d->strings[i].data = (const char *)cursor_bytes(&d->c, d->strings[i].size);
}

static struct str take_string(struct decoder *d)
{
	uint32_t i = cursor_u32(&d->c);

	if (i < d->string_count)
		return d->strings[i];
	cursor_fail(&d->c, "an undefined string");
	return STR("");
}

static void decode_frames(struct decoder *d)
{
	d->frame_count = take_count(&d->c, FRAME_BYTES);
	d->frames = ARENA_ARRAY(d->arena, struct symbol_frame, d->frame_count);
	for (uint32_t i = 0; i < d->frame_count && cursor_ok(&d->c); i++) {
		struct symbol_frame *frame = &d->frames[i];
		frame->function = take_string(d);
		frame->aliases = take_string(d);
		frame->file = take_string(d);
		frame->line = cursor_u32(&d->c);
		frame->function_file = take_string(d);
		frame->function_line = cursor_u32(&d->c);
		uint32_t flags = cursor_u32(&d->c);
		frame->is_inline = (flags & FRAME_INLINE) != 0;
		frame->is_nameless = (flags & FRAME_NAMELESS) != 0;
		frame->is_guessed_start = (flags & FRAME_GUESSED_START) != 0;
	}
}

static void decode_places(struct decoder *d, struct cache_contents *contents)
{
	uint32_t count = take_count(&d->c, PLACE_BYTES);
	uint64_t *obj_addrs = ARENA_ARRAY(d->arena, uint64_t, count);
	struct symbol_place *places = ARENA_ARRAY(d->arena, struct symbol_place, count);

	for (uint32_t i = 0; i < count && cursor_ok(&d->c); i++) {
		obj_addrs[i] = cursor_u64(&d->c);
		uint32_t first = cursor_u32(&d->c), frames = cursor_u32(&d->c);
		if ((i && obj_addrs[i] <= obj_addrs[i - 1]) || first > d->frame_count ||
			frames > d->frame_count - first) {
			cursor_fail(&d->c, "a place out of order");
			break;
		}
		places[i] = (struct symbol_place){.frames = d->frames + first, .count = frames};
	}
	contents->obj_addrs = obj_addrs;
	contents->places = places;
	contents->count = count;
}

bool cache_file_decode(struct str bytes, struct arena *arena, struct cache_contents *contents)
{
	struct decoder d = {.arena = arena};

	cursor_init(&d.c, bytes.data, bytes.size, "symbol cache", 0);
	const uint8_t *magic = cursor_bytes(&d.c, sizeof(MAGIC) - 1);
	uint32_t version = cursor_u32(&d.c), flags = cursor_u32(&d.c);
	uint64_t size = cursor_u64(&d.c);
	uint32_t crc = cursor_u32(&d.c), zero = cursor_u32(&d.c);
	if (!cursor_ok(&d.c) || memcmp(magic, MAGIC, sizeof(MAGIC) - 1) != 0 ||
		version != CACHE_FILE_VERSION || flags > (FLAG_NAMES | FLAG_LINES) || zero ||
		size != cursor_left(&d.c) || crc != crc32c(0, d.c.at, size))
		return false;
	*contents = (struct cache_contents){
		.has_names = (flags & FLAG_NAMES) != 0, .has_lines = (flags & FLAG_LINES) != 0};
	decode_strings(&d);
	decode_frames(&d);
	decode_places(&d, contents);
	return cursor_ok(&d.c) && cursor_at_end(&d.c);
}

static void add_u32(struct strbuf *out, uint32_t value)
{
	strbuf_add(out, (struct str){(const char *)&value, sizeof(value)});
}

static void add_u64(struct strbuf *out, uint64_t value)
{
	strbuf_add(out, (struct str){(const char *)&value, sizeof(value)});
}

static uint32_t count_frames(const struct cache_contents *contents)
{
	uint32_t count = 0;

	for (size_t i = 0; i < contents->count; i++)
		count += contents->places[i].count;
	return count;
}

/* Encodes frames, and numbers their strings on the way. */
static void encode_frames(
	const struct cache_contents *contents, struct str_table *strings, struct strbuf *out)
{
	add_u32(out, count_frames(contents));
	for (size_t i = 0; i < contents->count; i++) {
		for (uint32_t k = 0; k < contents->places[i].count; k++) {
			const struct symbol_frame *frame = &contents->places[i].frames[k];
			add_u32(out, str_table_intern(strings, frame->function));
			add_u32(out, str_table_intern(strings, frame->aliases));
			add_u32(out, str_table_intern(strings, frame->file));
			add_u32(out, frame->line);
			add_u32(out, str_table_intern(strings, frame->function_file));
			add_u32(out, frame->function_line);
			add_u32(out, (frame->is_inline ? FRAME_INLINE : 0) |
					     (frame->is_nameless ? FRAME_NAMELESS : 0) |
					     (frame->is_guessed_start ? FRAME_GUESSED_START : 0));
		}
	}
}

static void encode_places(const struct cache_contents *contents, struct strbuf *out)
{
	uint32_t first = 0;

	add_u32(out, (uint32_t)contents->count);
	for (size_t i = 0; i < contents->count; i++) {
		add_u64(out, contents->obj_addrs[i]);
		add_u32(out, first);
		add_u32(out, contents->places[i].count);
		first += contents->places[i].count;
	}
}

void cache_file_encode(const struct cache_contents *contents, struct strbuf *out)
{
	struct arena *arena = arena_create();
	struct str_table strings;
	struct strbuf body = {0}, frames = {0};

	str_table_init(&strings, arena);
	encode_frames(contents, &strings, &frames);
	add_u32(&body, (uint32_t)strings.count);
	for (size_t i = 0; i < strings.count; i++)
		add_u32(&body, (uint32_t)strings.strings[i].size);
	for (size_t i = 0; i < strings.count; i++)
		strbuf_add(&body, strings.strings[i]);
	strbuf_add(&body, strbuf_str(&frames));
	encode_places(contents, &body);

	strbuf_add(out, STR(MAGIC));
	add_u32(out, CACHE_FILE_VERSION);
	add_u32(out,
		(contents->has_names ? FLAG_NAMES : 0) | (contents->has_lines ? FLAG_LINES : 0));
	add_u64(out, body.size);
	add_u32(out, crc32c(0, body.data, body.size));
	add_u32(out, 0);
	strbuf_add(out, strbuf_str(&body));
	strbuf_deinit(&body);
	strbuf_deinit(&frames);
	str_table_deinit(&strings);
	arena_destroy(arena);
}
