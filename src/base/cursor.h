#ifndef SONDE_BASE_CURSOR_H
#define SONDE_BASE_CURSOR_H

/*
 * Byte cursor: reads numbers from untrusted bytes.  It never reads outside its range.  The first
 * read that does not fit is remembered (sticky); from then on, every read returns zeros, so that a
 * parser can read a whole record and check once, with cursor_error, whether it was complete.
 * Numbers are little-endian, or, where is_swapped is set, big-endian.
 *
 * The idea is that of drgn's binary_buffer.h and libbacktrace's struct dwarf_buf.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

struct cursor {
	const uint8_t *start, *at, *end;
	const char *name;    /* of the input, for messages; borrowed */
	uint64_t base;	     /* the offset of `start` in the input */
	const uint8_t *bad;  /* where the first failing read began, or NULL */
	const char *problem; /* what was wrong there; a literal */
	bool is_swapped;     /* numbers of fixed size are big-endian; initially false */
};

void cursor_init(struct cursor *c, const void *data, size_t size, const char *name, uint64_t base);

static inline bool cursor_ok(const struct cursor *c)
{
	return c->bad == NULL;
}
static inline bool cursor_at_end(const struct cursor *c)
{
	return c->at == c->end;
}
static inline size_t cursor_left(const struct cursor *c)
{
	return (size_t)(c->end - c->at);
}
/* The next byte's offset in the input. */
static inline uint64_t cursor_offset(const struct cursor *c)
{
	return c->base + (uint64_t)(c->at - c->start);
}

/* Marks the cursor bad at its current position; problem is a literal.  The first mark stays. */
void cursor_fail(struct cursor *c, const char *problem);
/* NULL if all reads so far succeeded, else an ERROR_INPUT with name, offset and problem. */
must_use struct error *cursor_error(const struct cursor *c);

uint8_t cursor_u8(struct cursor *c);
uint16_t cursor_u16(struct cursor *c);
uint32_t cursor_u32(struct cursor *c);
uint64_t cursor_u64(struct cursor *c);
/* LEB128 as in DWARF 5 section 7.6; a value of more than 64 bits is a failure. */
uint64_t cursor_uleb(struct cursor *c);
int64_t cursor_sleb(struct cursor *c);
/* A ULEB that must be at most `most`. */
uint64_t cursor_uleb_to(struct cursor *c, uint64_t most);
/* size bytes, borrowed; NULL (and bad) if there are fewer. */
const uint8_t *cursor_bytes(struct cursor *c, uint64_t size);
/* Up to a NUL, which is skipped and not part of the result. */
struct str cursor_string(struct cursor *c);
void cursor_skip(struct cursor *c, uint64_t size);
/* Moves to an offset from `start`. */
void cursor_seek(struct cursor *c, uint64_t offset_in_run);
/* A cursor over the next size bytes, which are skipped here; empty and bad if there are fewer. */
struct cursor cursor_sub(struct cursor *c, uint64_t size);

#endif
