#ifndef SONDE_BASE_WIRE_H
#define SONDE_BASE_WIRE_H

/*
 * Numbers and strings in sonde's own files, and in ClickHouse's format RowBinary: fixed
 * little-endian, LEB128 (DWARF 5 section 7.6), and strings and arrays after their length.
 * base/cursor.h reads numbers; inline functions here handle only the one-byte case.
 */

#include "base/cursor.h"
#include "base/str.h"

void wire_put_u8(struct strbuf *out, uint8_t value);
void wire_put_u16(struct strbuf *out, uint16_t value);
void wire_put_u32(struct strbuf *out, uint32_t value);
void wire_put_u64(struct strbuf *out, uint64_t value);
void wire_put_uleb(struct strbuf *out, uint64_t value);
void wire_put_sleb(struct strbuf *out, int64_t value);
/* Writes the length, then the bytes. */
void wire_put_str(struct strbuf *out, struct str s);

/* Borrowed from the cursor's bytes; empty, and the cursor bad, if truncated. */
struct str wire_str(struct cursor *c);
/* Takes a length and so many bytes, as a separate cursor. */
struct cursor wire_column(struct cursor *c);
/* How many elements of an array follow; fails the cursor if so many, of that size, cannot. */
uint64_t wire_count(struct cursor *c, size_t element_bytes);

static inline uint64_t wire_uleb(struct cursor *c)
{
	if (likely(c->at < c->end && *c->at < 0x80))
		return *c->at++;
	return cursor_uleb(c);
}

static inline int64_t wire_sleb(struct cursor *c)
{
	if (likely(c->at < c->end && *c->at < 0x80))
		return (int64_t)(*c->at++ ^ 0x40) - 0x40;
	return cursor_sleb(c);
}

#endif
