#ifndef SONDE_FORMATS_COMMON_SPANS_H
#define SONDE_FORMATS_COMMON_SPANS_H

/*
 * Interns runs of input bytes that recur (frames, lines): a row is a pointer into the input with
 * its hash, and an id from the reader.  Inline, because these loops dominate the cost of reading
 * text.
 */

#include <string.h>

#include "base/hash.h"
#include "base/row_table.h"
#include "base/str.h"
#include "model/ids.h"

struct span {
	const char *data;
	uint32_t size;
	uint32_t hash;
	uint32_t id;
};

static inline uint64_t span_hash(const void *row)
{
	const struct span *s = row;

	return s->hash;
}

static inline bool span_same(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return x->hash == y->hash && x->size == y->size && memcmp(x->data, y->data, x->size) == 0;
}

static const struct row_kind span_rows = {sizeof(struct span), span_hash, span_same};

/* The row of an equal span, added if there is none (then its id is NO_ID). */
static inline struct span *span_intern(struct row_table *t, struct span span)
{
	span.id = NO_ID;
	uint32_t row = row_table_intern(t, &span_rows, &span);
	return &((struct span *)t->rows)[row];
}

/* The id of an equal span, NO_ID if there is none. */
static inline uint32_t span_find(const struct row_table *t, struct span span)
{
	uint32_t row;

	if (!row_table_find(t, &span_rows, &span, &row))
		return NO_ID;
	return ((const struct span *)t->rows)[row].id;
}

/* s as a span. */
static inline struct span span_of(struct str s)
{
	return (struct span){.data = s.data,
		.size = (uint32_t)s.size,
		.hash = (uint32_t)hash_bytes(s.data, s.size)};
}

/* The byte repeated eight times. */
static inline uint64_t span_eight(char c)
{
	return (unsigned char)c * (uint64_t)0x0101010101010101u;
}

/* The next 8 bytes; bytes of `end` fill up what is past the last. */
static inline uint64_t span_load(const char *p, size_t left, uint64_t end)
{
	uint64_t word = end;

	if (likely(left >= 8))
		memcpy(&word, p, 8);
	else
		memcpy(&word, p, left);
	return word;
}

/* The lowest set bit is in the first byte of the word that equals those of `end`. */
static inline uint64_t span_find_byte(uint64_t word, uint64_t end)
{
	uint64_t x = word ^ end;

	return (x - 0x0101010101010101u) & ~x & 0x8080808080808080u;
}

static inline uint64_t span_hash_step(uint64_t hash, uint64_t word)
{
	unsigned __int128 product = (unsigned __int128)(hash ^ word) * 0x8bb84b93962eacc9u;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/*
 * The start of s (less than 4 GiB) up to the byte `end` or to the end of s; finds the span's end
 * and hash in one pass.
 */
static inline struct span span_scan(struct str s, char end)
{
	const uint64_t ends = span_eight(end);
	uint64_t hash = 0x2d358dccaa6c78a5u;
	uint64_t word, found;
	size_t i = 0;

	for (;;) {
		word = span_load(s.data + i, s.size - i, ends);
		found = span_find_byte(word, ends);
		if (found)
			break;
		hash = span_hash_step(hash, word);
		i += 8;
	}
	unsigned int bits = (unsigned int)__builtin_ctzll(found) & ~7u;
	hash = span_hash_step(hash, word & (((uint64_t)1 << bits) - 1));
	i += bits / 8;
	return (struct span){
		.data = s.data, .size = (uint32_t)i, .hash = (uint32_t)hash_u64(hash + i)};
}

#endif
