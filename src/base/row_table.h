#ifndef SONDE_BASE_ROW_TABLE_H
#define SONDE_BASE_ROW_TABLE_H

/*
 * A growing array of rows of one type, in which equal rows are stored once ("interned").  A
 * profile's tables are built with it.  The lookup is an open-addressing table of row numbers, at
 * most half full, so it costs 8 to 16 bytes per row in addition to the row itself; keys are not
 * stored twice.
 *
 * row_table_intern is inline so that, with a constant kind, hash and comparison are inlined into
 * the probe loop.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

struct row_kind {
	size_t size; /* of a row in bytes */
	uint64_t (*hash)(const void *row);
	bool (*same)(const void *a, const void *b);
};

struct row_table {
	void *rows;
	size_t count, capacity;
	size_t apart;	   /* the last of these, which the lookup does not have yet */
	uint32_t *slots;   /* row number + 1; 0 is free */
	size_t slot_count; /* 0 or a power of two */
};

void row_table_deinit(struct row_table *t);
/* Appends a copy of row without looking for an equal one; returns its number. */
uint32_t row_table_push(struct row_table *t, const struct row_kind *kind, const void *row);
/* The same for a row that is known to be new, and that row_table_enter adds to the lookup later. */
uint32_t row_table_push_apart(struct row_table *t, const struct row_kind *kind, const void *row);
/* Adds rows that were pushed apart to the lookup; must precede any call that searches. */
void row_table_enter(struct row_table *t, const struct row_kind *kind);
/* Grows the lookup for at least one more row, and enters all rows again. */
void row_table_grow(struct row_table *t, const struct row_kind *kind);
/*
 * Returns the rows, shrunk to their count, to be freed with free(); NULL if there are none.  The
 * table is empty afterwards.
 */
must_use void *row_table_take(struct row_table *t, const struct row_kind *kind);

static inline const void *row_table_row(
	const struct row_table *t, const struct row_kind *kind, uint32_t row)
{
	return (const char *)t->rows + (size_t)row * kind->size;
}

/* True, with *number set, if the table has an equal row. */
static inline bool row_table_find(
	const struct row_table *t, const struct row_kind *kind, const void *row, uint32_t *number)
{
	if (t->slot_count == 0)
		return false;
	size_t mask = t->slot_count - 1;
	for (size_t i = kind->hash(row) & mask; t->slots[i]; i = (i + 1) & mask) {
		*number = t->slots[i] - 1;
		if (kind->same(row_table_row(t, kind, *number), row))
			return true;
	}
	return false;
}

/*
 * For callers that know their next lookup: the first prefetches the slot for that hash, the second
 * the row itself.
 */
static inline void row_table_warm_slot(const struct row_table *t, uint64_t hash)
{
	if (t->slot_count)
		prefetch(&t->slots[hash & (t->slot_count - 1)]);
}
static inline const void *row_table_warm_row(
	const struct row_table *t, const struct row_kind *kind, uint64_t hash)
{
	uint32_t slot = t->slot_count ? t->slots[hash & (t->slot_count - 1)] : 0;
	const void *row = slot ? row_table_row(t, kind, slot - 1) : NULL;

	prefetch(row);
	return row;
}

/* The number of the row equal to this one, which is appended if there is none. */
static inline uint32_t row_table_intern(
	struct row_table *t, const struct row_kind *kind, const void *row)
{
	if (unlikely((t->count + 1) * 2 > t->slot_count))
		row_table_grow(t, kind);
	size_t mask = t->slot_count - 1;
	size_t i = kind->hash(row) & mask;
	for (; t->slots[i]; i = (i + 1) & mask) {
		uint32_t number = t->slots[i] - 1;
		if (kind->same(row_table_row(t, kind, number), row))
			return number;
	}
	uint32_t added = row_table_push(t, kind, row);
	t->slots[i] = added + 1;
	return added;
}

/*
 * The same for rows that may recur in the order of their first appearance: the row after `before`
 * (UINT32_MAX: the first row) is compared before hashing.
 */
static inline uint32_t row_table_intern_after(
	struct row_table *t, const struct row_kind *kind, const void *row, uint32_t before)
{
	uint32_t next = before + 1;

	if (next < t->count && kind->same(row_table_row(t, kind, next), row))
		return next;
	return row_table_intern(t, kind, row);
}

#endif
