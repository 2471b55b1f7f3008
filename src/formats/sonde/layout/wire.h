#ifndef SONDE_FORMATS_SONDE_LAYOUT_WIRE_H
#define SONDE_FORMATS_SONDE_LAYOUT_WIRE_H

/*
 * Numbers and strings in sonde's own files: fixed little-endian, LEB128 (DWARF 5 section 7.6), and
 * strings after their length.  base/cursor.h reads them; inline functions here handle only the
 * one-byte case.
 */

#include "base/cursor.h"
#include "base/str.h"

void wire_put_u16(struct strbuf *out, uint16_t value);
void wire_put_u32(struct strbuf *out, uint32_t value);
void wire_put_uleb(struct strbuf *out, uint64_t value);
void wire_put_sleb(struct strbuf *out, int64_t value);
/* Writes the length, then the bytes. */
void wire_put_str(struct strbuf *out, struct str s);

/* Borrowed from the cursor's bytes; empty, and the cursor bad, if truncated. */
struct str wire_str(struct cursor *c);
/* Takes a length and so many bytes, as a separate cursor. */
struct cursor wire_column(struct cursor *c);

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
