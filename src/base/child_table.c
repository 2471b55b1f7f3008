/*
 * Children by (parent, key): the first one is stored in its parent, the others in an
 * open-addressing table with linear probing, at most half full.
 */
#include "base/child_table.h"

#include <assert.h>

#include "base/compiler.h"
#include "base/hash.h"

void child_table_init(struct child_table *t, size_t nodes_expected)
{
	*t = (struct child_table){0};
	/* Pages that are never written cost nothing; growing would copy them. */
	vec_reserve(&t->nodes, nodes_expected);
	vec_push(&t->nodes, (struct child){.key = UINT32_MAX});
}

void child_table_deinit(struct child_table *t)
{
	vec_deinit(&t->nodes);
	free(t->slots);
	*t = (struct child_table){0};
}

/* Keys that came together have similar numbers, and should be close together. */
static uint32_t child_hash(uint32_t parent, uint32_t key)
{
	uint64_t pair = (uint64_t)parent << 32 | key >> HASH_RUN_BITS;

	return (uint32_t)hash_run(hash_u64(pair + 0x9e3779b97f4a7c15u), key);
}

static void child_table_grow(struct child_table *t)
{
	struct child_slot *old = t->slots;
	size_t old_count = t->slot_count;

	t->slot_count = old_count ? old_count * 2 : 64;
	t->slots = xcalloc(t->slot_count, sizeof(*t->slots));
	size_t mask = t->slot_count - 1;
	for (size_t i = 0; i < old_count; i++) {
		if (old[i].node == 0)
			continue;
		size_t to = old[i].hash & mask;
		while (t->slots[to].node)
			to = (to + 1) & mask;
		t->slots[to] = old[i];
	}
	free(old);
}

uint32_t child_table_push(struct child_table *t, uint32_t parent, uint32_t key)
{
	uint32_t node = (uint32_t)t->nodes.count;

	assert(t->nodes.count < UINT32_MAX);
	vec_push(&t->nodes, (struct child){.parent = parent, .key = key});
	return node;
}

/* The slot that holds the child, or the free slot where it belongs. */
static struct child_slot *child_slot(
	const struct child_table *t, uint32_t parent, uint32_t key, uint32_t hash)
{
	size_t mask = t->slot_count - 1;
	size_t i = hash & mask;

	for (; t->slots[i].node; i = (i + 1) & mask) {
		if (t->slots[i].hash != hash)
			continue;
		const struct child *c = &t->nodes.data[t->slots[i].node];
		if (c->parent == parent && c->key == key)
			break;
	}
	return &t->slots[i];
}

static uint32_t child_table_further(
	struct child_table *t, uint32_t parent, uint32_t key, bool *added)
{
	if (unlikely((t->slots_used + 1) * 2 > t->slot_count))
		child_table_grow(t);
	uint32_t hash = child_hash(parent, key);
	struct child_slot *slot = child_slot(t, parent, key, hash);
	*added = slot->node == 0;
	if (*added) {
		*slot = (struct child_slot){.node = child_table_push(t, parent, key), .hash = hash};
		t->slots_used++;
	}
	return slot->node;
}

uint32_t child_table_at(struct child_table *t, uint32_t parent, uint32_t key, bool *added)
{
	assert(parent < t->nodes.count);
	uint32_t first = t->nodes.data[parent].first;
	if (first == 0) {
		first = child_table_push(t, parent, key);
		t->nodes.data[parent].first = first;
		*added = true;
		return first;
	}
	if (t->nodes.data[first].key != key)
		return child_table_further(t, parent, key, added);
	*added = false;
	return first;
}

/* Adds a chain of `count` new nodes; the parent of the first has none of them yet. */
static void child_table_chain(
	struct child_table *t, uint32_t parent, const uint32_t *keys, size_t count, uint32_t *nodes)
{
	size_t next = t->nodes.count;

	assert(count <= UINT32_MAX - next);
	vec_reserve(&t->nodes, next + count);
	for (size_t i = 0; i < count; i++) {
		bool is_last = i + 1 == count;

		t->nodes.data[next] = (struct child){.parent = parent,
			.key = keys[i],
			.first = is_last ? 0 : (uint32_t)next + 1};
		nodes[i] = parent = (uint32_t)next++;
	}
	t->nodes.count = next;
}

/* Follows the path as far as nodes exist; *parent is the last of them. */
static size_t child_table_follow(const struct child_table *t, uint32_t *parent,
	const uint32_t *keys, size_t count, uint32_t *nodes)
{
	size_t i = 0;

	for (; i < count; i++) {
		uint32_t node = t->nodes.data[*parent].first;

		if (node == 0)
			break;
		if (t->nodes.data[node].key != keys[i]) {
			if (t->slot_count == 0)
				break;
			uint32_t hash = child_hash(*parent, keys[i]);
			node = child_slot(t, *parent, keys[i], hash)->node;
			if (node == 0)
				break;
		}
		nodes[i] = *parent = node;
	}
	return i;
}

size_t child_table_path(struct child_table *t, uint32_t parent, const uint32_t *keys, size_t count,
	size_t added_max, uint32_t *nodes)
{
	assert(parent < t->nodes.count);
	size_t known = child_table_follow(t, &parent, keys, count, nodes);
	bool added;

	if (count - known > added_max)
		count = known + added_max;
	if (known == count)
		return count;
	nodes[known] = child_table_at(t, parent, keys[known], &added);
	if (known + 1 < count) {
		t->nodes.data[nodes[known]].first = (uint32_t)t->nodes.count;
		child_table_chain(
			t, nodes[known], keys + known + 1, count - known - 1, nodes + known + 1);
	}
	return count;
}

uint32_t child_table_find(const struct child_table *t, uint32_t parent, uint32_t key)
{
	assert(parent < t->nodes.count);
	uint32_t first = t->nodes.data[parent].first;

	if (first == 0 || t->nodes.data[first].key == key)
		return first;
	return t->slots ? child_slot(t, parent, key, child_hash(parent, key))->node : 0;
}
