/*
 * Children by (parent, entity).  In a tree of calls most nodes have one child, so a node remembers
 * its first child itself and only the others go through a hash table: open addressing with linear
 * probing, at most half full.
 */
#include "analysis/child_table.h"

#include <assert.h>

#include "base/hash.h"
#include "model/ids.h"

void child_table_init(struct child_table *t, size_t nodes_max)
{
	assert(nodes_max < UINT32_MAX);
	*t = (struct child_table){.slot_count = 64};
	t->slots = xcalloc(t->slot_count, sizeof(*t->slots));
	/* Pages that are never written cost nothing; growing would copy them. */
	vec_reserve(&t->nodes, nodes_max);
	vec_push(&t->nodes, (struct child){.parent = NO_ID, .entity = NO_ID});
}

void child_table_deinit(struct child_table *t)
{
	vec_deinit(&t->nodes);
	free(t->slots);
	*t = (struct child_table){0};
}

/* The slot that holds the child, or the free one where it belongs. */
static size_t child_slot(const struct child_table *t, uint32_t parent, uint32_t entity)
{
	size_t mask = t->slot_count - 1;
	size_t i = hash_u64((uint64_t)parent << 32 | entity) & mask;

	for (; t->slots[i] != 0; i = (i + 1) & mask) {
		const struct child *c = &t->nodes.data[t->slots[i]];
		if (c->parent == parent && c->entity == entity)
			break;
	}
	return i;
}

static void child_table_grow(struct child_table *t)
{
	uint32_t *old = t->slots;
	size_t old_count = t->slot_count;

	t->slot_count *= 2;
	t->slots = xcalloc(t->slot_count, sizeof(*t->slots));
	for (size_t i = 0; i < old_count; i++) {
		const struct child *c = &t->nodes.data[old[i]];
		if (old[i] != 0)
			t->slots[child_slot(t, c->parent, c->entity)] = old[i];
	}
	free(old);
}

static uint32_t child_table_add(struct child_table *t, uint32_t parent, uint32_t entity)
{
	uint32_t node = (uint32_t)t->nodes.count;

	assert(t->nodes.count < t->nodes.capacity);
	vec_push(&t->nodes, (struct child){.parent = parent, .entity = entity});
	return node;
}

static uint32_t child_table_further(
	struct child_table *t, uint32_t parent, uint32_t entity, bool *added)
{
	if ((t->used + 1) * 2 > t->slot_count)
		child_table_grow(t);
	size_t slot = child_slot(t, parent, entity);
	*added = t->slots[slot] == 0;
	if (*added) {
		t->slots[slot] = child_table_add(t, parent, entity);
		t->used++;
	}
	return t->slots[slot];
}

uint32_t child_table_at(struct child_table *t, uint32_t parent, uint32_t entity, bool *added)
{
	assert(parent < t->nodes.count);
	uint32_t first = t->nodes.data[parent].first;
	if (first == 0) {
		first = child_table_add(t, parent, entity);
		t->nodes.data[parent].first = first;
		*added = true;
		return first;
	}
	if (t->nodes.data[first].entity != entity)
		return child_table_further(t, parent, entity, added);
	*added = false;
	return first;
}
