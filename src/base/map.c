/*
 * Hash tables by open addressing.  See map.h.
 */
#include "base/map.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/hash.h"

void map_deinit(struct map *m)
{
	free(m->slots);
	*m = (struct map){0};
}

static struct map_slot *map_slot(const struct map *m, uint64_t a, uint64_t b)
{
	size_t mask = m->capacity - 1;
	size_t i = hash_pair(a, b) & mask;

	while (m->slots[i].used && (m->slots[i].key[0] != a || m->slots[i].key[1] != b))
		i = (i + 1) & mask;
	return &m->slots[i];
}

static void map_grow(struct map *m)
{
	struct map old = *m;

	m->capacity = old.capacity ? old.capacity * 2 : 16;
	m->slots = xcalloc(m->capacity, sizeof(*m->slots));
	for (size_t i = 0; i < old.capacity; i++) {
		const struct map_slot *s = &old.slots[i];
		if (s->used)
			*map_slot(m, s->key[0], s->key[1]) = *s;
	}
	free(old.slots);
}

bool map_get(const struct map *m, uint64_t a, uint64_t b, uint32_t *value)
{
	if (m->count == 0)
		return false;
	const struct map_slot *s = map_slot(m, a, b);
	if (!s->used)
		return false;
	*value = s->value;
	return true;
}

uint32_t *map_at(struct map *m, uint64_t a, uint64_t b, uint32_t fallback, bool *added)
{
	if ((m->count + 1) * 2 > m->capacity)
		map_grow(m);
	struct map_slot *s = map_slot(m, a, b);
	*added = !s->used;
	if (!s->used) {
		*s = (struct map_slot){.key = {a, b}, .value = fallback, .used = 1};
		m->count++;
	}
	return &s->value;
}

void map_put(struct map *m, uint64_t a, uint64_t b, uint32_t value)
{
	bool added;

	*map_at(m, a, b, value, &added) = value;
}

/*
 * Entries that were displaced by the removed one move up, so that no search ends too early (Knuth,
 * The Art of Computer Programming 3, 6.4, algorithm R).
 */
void map_remove(struct map *m, uint64_t a, uint64_t b)
{
	size_t mask = m->capacity - 1;

	if (m->count == 0)
		return;
	struct map_slot *hole = map_slot(m, a, b);

	if (!hole->used)
		return;
	for (size_t i = (size_t)(hole - m->slots + 1) & mask; m->slots[i].used;
		i = (i + 1) & mask) {
		size_t home = hash_pair(m->slots[i].key[0], m->slots[i].key[1]) & mask;
		size_t at = (size_t)(hole - m->slots);

		if (((i - home) & mask) < ((i - at) & mask))
			continue;
		*hole = m->slots[i];
		hole = &m->slots[i];
	}
	hole->used = 0;
	m->count--;
}

void str_table_init(struct str_table *t, struct arena *arena)
{
	*t = (struct str_table){.arena = arena};
}

void str_table_deinit(struct str_table *t)
{
	free(t->strings);
	free(t->hashes);
	free(t->slots);
	*t = (struct str_table){0};
}

/* The slot that holds s, or the free slot where it belongs. */
static size_t str_slot(const struct str_table *t, struct str s, uint32_t hash)
{
	size_t mask = t->slot_count - 1;
	size_t i = hash & mask;

	for (;; i = (i + 1) & mask) {
		uint32_t held = t->slots[i];
		if (held == 0)
			return i;
		if (t->hashes[held - 1] == hash && str_equal(t->strings[held - 1], s))
			return i;
	}
}

static void str_table_grow(struct str_table *t)
{
	t->capacity = t->capacity ? t->capacity * 2 : 16;
	t->strings = xrealloc_array(t->strings, t->capacity, sizeof(*t->strings));
	t->hashes = xrealloc_array(t->hashes, t->capacity, sizeof(*t->hashes));
	free(t->slots);
	t->slot_count = t->capacity * 2;
	t->slots = xcalloc(t->slot_count, sizeof(*t->slots));
	size_t mask = t->slot_count - 1;
	for (size_t k = 0; k < t->count; k++) {
		size_t i = t->hashes[k] & mask;
		while (t->slots[i])
			i = (i + 1) & mask;
		t->slots[i] = (uint32_t)k + 1;
	}
}

uint32_t str_table_intern(struct str_table *t, struct str s)
{
	if (t->count == t->capacity)
		str_table_grow(t);
	uint32_t hash = (uint32_t)hash_bytes(s.data, s.size);
	size_t i = str_slot(t, s, hash);
	if (t->slots[i] == 0) {
		assert(t->count < UINT32_MAX - 1);
		t->strings[t->count] = arena_str(t->arena, s);
		t->hashes[t->count] = hash;
		t->slots[i] = (uint32_t)++t->count;
	}
	return t->slots[i] - 1;
}

bool str_table_find(const struct str_table *t, struct str s, uint32_t *index)
{
	if (t->count == 0)
		return false;
	size_t i = str_slot(t, s, (uint32_t)hash_bytes(s.data, s.size));
	if (t->slots[i] == 0)
		return false;
	*index = t->slots[i] - 1;
	return true;
}
