/*
 * Byte cursor with a sticky error.  See cursor.h.
 */
#include "base/cursor.h"

void cursor_init(struct cursor *c, const void *data, size_t size, const char *name, uint64_t base)
{
	static const uint8_t nothing[1];
	const uint8_t *start = data ? data : nothing;

	*c = (struct cursor){
		.start = start, .at = start, .end = start + size, .name = name, .base = base};
}

void cursor_fail(struct cursor *c, const char *problem)
{
	if (c->bad)
		return;
	c->bad = c->at;
	c->problem = problem;
	c->at = c->end;
}

struct error *cursor_error(const struct cursor *c)
{
	if (c->bad == NULL)
		return NULL;
	return error_input(c->name, c->base + (uint64_t)(c->bad - c->start), "%s", c->problem);
}

const uint8_t *cursor_bytes(struct cursor *c, uint64_t size)
{
	if (size > cursor_left(c)) {
		cursor_fail(c, "the data is truncated here");
		return NULL;
	}
	const uint8_t *p = c->at;
	c->at += size;
	return p;
}

void cursor_skip(struct cursor *c, uint64_t size)
{
	(void)cursor_bytes(c, size);
}

void cursor_seek(struct cursor *c, uint64_t offset_in_run)
{
	if (c->bad)
		return;
	if (offset_in_run > (uint64_t)(c->end - c->start))
		cursor_fail(c, "an offset leads out of the data");
	else
		c->at = c->start + offset_in_run;
}

struct cursor cursor_sub(struct cursor *c, uint64_t size)
{
	struct cursor sub = *c;
	const uint8_t *p = cursor_bytes(c, size);

	sub.base = cursor_offset(&sub);
	sub.start = sub.at = p ? p : c->end;
	sub.end = p ? p + size : c->end;
	if (p == NULL) {
		sub.base = c->base + (uint64_t)(c->end - c->start);
		sub.bad = sub.start;
		sub.problem = "the data is truncated here";
	}
	return sub;
}

#define READ(c, type, swap)                                                                        \
	do {                                                                                       \
		const uint8_t *p_ = cursor_bytes((c), sizeof(type));                               \
		type v_ = 0;                                                                       \
		if (p_)                                                                            \
			memcpy(&v_, p_, sizeof(v_));                                               \
		return (c)->is_swapped ? swap(v_) : v_;                                            \
	} while (0)

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "sonde's files are little-endian");

uint8_t cursor_u8(struct cursor *c)
{
	const uint8_t *p = cursor_bytes(c, 1);

	return p ? *p : 0;
}

uint16_t cursor_u16(struct cursor *c)
{
	READ(c, uint16_t, __builtin_bswap16);
}

uint32_t cursor_u32(struct cursor *c)
{
	READ(c, uint32_t, __builtin_bswap32);
}

uint64_t cursor_u64(struct cursor *c)
{
	READ(c, uint64_t, __builtin_bswap64);
}

uint64_t cursor_uleb(struct cursor *c)
{
	uint64_t value = 0;

	for (unsigned int shift = 0;; shift += 7) {
		uint8_t byte = cursor_u8(c);
		uint64_t bits = byte & 0x7f;
		if (shift < 64 && (shift == 0 || bits >> (64 - shift) == 0))
			value |= bits << shift;
		else if (bits)
			cursor_fail(c, "a number of more than 64 bits");
		if ((byte & 0x80) == 0)
			break;
		if (shift > 128) {
			cursor_fail(c, "a number without end");
			break;
		}
	}
	return cursor_ok(c) ? value : 0;
}

int64_t cursor_sleb(struct cursor *c)
{
	uint64_t value = 0;
	unsigned int shift = 0;
	uint8_t byte;

	do {
		byte = cursor_u8(c);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (shift > 140)
			cursor_fail(c, "a number without end");
	} while ((byte & 0x80) && cursor_ok(c));
	if (shift < 64 && (byte & 0x40))
		value |= ~(uint64_t)0 << shift;
	return cursor_ok(c) ? (int64_t)value : 0;
}

uint64_t cursor_uleb_to(struct cursor *c, uint64_t most)
{
	const uint8_t *before = c->at;
	uint64_t value = cursor_uleb(c);

	if (value <= most)
		return value;
	c->at = before;
	cursor_fail(c, "a number out of range");
	return 0;
}

struct str cursor_string(struct cursor *c)
{
	const uint8_t *nul = cursor_left(c) ? memchr(c->at, 0, cursor_left(c)) : NULL;

	if (nul == NULL) {
		cursor_fail(c, "a string without end");
		return STR("");
	}
	struct str s = {(const char *)c->at, (size_t)(nul - c->at)};
	c->at = nul + 1;
	return s;
}
