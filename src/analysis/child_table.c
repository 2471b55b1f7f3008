/*
 * Children by (parent, entity): open addressing, at most half full, with linear probing.  A slot
 * holds only the node's index and the key stands with the node, so that the table stays small in
 * the cache; trees of a million nodes are made of one look-up a node.
 */
#include "analysis/child_table.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/hash.h"

void child_table_init(struct child_table *t)
{
	*t = (struct child_table){.count = 1, .capacity = 64, .slot_count = 128};
	t->keys = xcalloc(t->capacity, sizeof(*t->keys));
	t->slots = xcalloc(t->slot_count, sizeof(*t->slots));
	t->keys[0] = UINT64_MAX;
}

void child_table_deinit(struct child_table *t)
{
	free(t->keys);
	free(t->slots);
	*t = (struct child_table){0};
}

/* The slot that holds the key, or the free one where it belongs. */
static size_t child_slot(const struct child_table *t, uint64_t key)
{
	size_t mask = t->slot_count - 1;
	size_t i = hash_u64(key) & mask;

	while (t->slots[i] != 0 && t->keys[t->slots[i]] != key)
		i = (i + 1) & mask;
	return i;
}

static void child_table_grow(struct child_table *t)
{
	t->capacity *= 2;
	t->keys = xrealloc_array(t->keys, t->capacity, sizeof(*t->keys));
	t->slot_count = t->capacity * 2;
	free(t->slots);
	t->slots = xcalloc(t->slot_count, sizeof(*t->slots));
	for (size_t node = 1; node < t->count; node++)
		t->slots[child_slot(t, t->keys[node])] = (uint32_t)node;
}

uint32_t child_table_at(struct child_table *t, uint32_t parent, uint32_t entity, bool *added)
{
	uint64_t key = (uint64_t)parent << 32 | entity;

	assert(parent < t->count);
	if (t->count == t->capacity)
		child_table_grow(t);
	size_t slot = child_slot(t, key);
	*added = t->slots[slot] == 0;
	if (*added) {
		assert(t->count < UINT32_MAX - 1);
		t->keys[t->count] = key;
		t->slots[slot] = (uint32_t)t->count++;
	}
	return t->slots[slot];
}
