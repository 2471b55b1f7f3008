/*
 * Interned rows: the parts of row_table.h that are not in the hot path.
 */
#include "base/row_table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

void row_table_deinit(struct row_table *t)
{
	free(t->rows);
	free(t->slots);
	*t = (struct row_table){0};
}

uint32_t row_table_push(struct row_table *t, const struct row_kind *kind, const void *row)
{
	assert(t->count < UINT32_MAX - 1);
	if (t->count == t->capacity) {
		t->capacity = t->capacity ? t->capacity * 2 : 16;
		t->rows = xrealloc_array(t->rows, t->capacity, kind->size);
	}
	memcpy((char *)t->rows + t->count * kind->size, row, kind->size);
	return (uint32_t)t->count++;
}

uint32_t row_table_push_apart(struct row_table *t, const struct row_kind *kind, const void *row)
{
	t->apart++;
	return row_table_push(t, kind, row);
}

/* Adds rows to the lookup; no row may be equal to an earlier one. */
static void enter_rows(struct row_table *t, const struct row_kind *kind, size_t first)
{
	size_t mask = t->slot_count - 1;

	for (uint32_t row = (uint32_t)first; row < t->count; row++) {
		size_t i = kind->hash(row_table_row(t, kind, row)) & mask;
		while (t->slots[i])
			i = (i + 1) & mask;
		t->slots[i] = row + 1;
	}
}

static bool is_full(const struct row_table *t)
{
	return (t->count + 1) * 2 > t->slot_count;
}

void row_table_grow(struct row_table *t, const struct row_kind *kind)
{
	/* The old slots go first: the two generations are never in memory at once. */
	free(t->slots);
	do
		t->slot_count = t->slot_count ? t->slot_count * 2 : 32;
	while (is_full(t));
	t->slots = xcalloc(t->slot_count, sizeof(*t->slots));
	enter_rows(t, kind, 0);
}

void row_table_enter(struct row_table *t, const struct row_kind *kind)
{
	size_t first = t->count - t->apart;

	t->apart = 0;
	if (is_full(t))
		row_table_grow(t, kind);
	else
		enter_rows(t, kind, first);
}

void *row_table_take(struct row_table *t, const struct row_kind *kind)
{
	void *rows = t->rows;

	if (t->count)
		rows = xrealloc_array(rows, t->count, kind->size);
	t->rows = NULL;
	row_table_deinit(t);
	return rows;
}
