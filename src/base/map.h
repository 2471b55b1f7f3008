#ifndef SONDE_BASE_MAP_H
#define SONDE_BASE_MAP_H

/*
 * Hash tables by open addressing with linear probing, at most half full.
 *
 * `struct map` maps a pair of 64-bit keys to a 32-bit value; `struct str_table` gives each distinct
 * byte string a dense index from 0, in the order in which they are first seen.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

struct map_slot {
	uint64_t key[2];
	uint32_t value;
	uint32_t used;
};

struct map {
	struct map_slot *slots;
	size_t count, capacity; /* capacity is 0 or a power of two */
};

/* The maximum size of an entry: a table that has just grown is a quarter full. */
#define MAP_ENTRY_BYTES (4 * sizeof(struct map_slot))

void map_deinit(struct map *m);
/* True, with *value set, if the pair is in the map. */
bool map_get(const struct map *m, uint64_t a, uint64_t b, uint32_t *value);
/* Adds the pair or replaces its value. */
void map_put(struct map *m, uint64_t a, uint64_t b, uint32_t value);
/*
 * The address of the pair's value, which is added as `fallback` if missing (then *added is true).
 * Valid until the next call that may add.
 */
uint32_t *map_at(struct map *m, uint64_t a, uint64_t b, uint32_t fallback, bool *added);
/* Removes the pair, if present; the table does not shrink, but the slot is free again. */
void map_remove(struct map *m, uint64_t a, uint64_t b);

struct str_table {
	struct arena *arena; /* owns the bytes; not owned by the table */
	struct str *strings; /* [count], NUL-terminated copies */
	uint32_t *hashes;
	uint32_t *slots; /* index + 1, 0 is free */
	size_t count, capacity, slot_count;
};

void str_table_init(struct str_table *t, struct arena *arena);
void str_table_deinit(struct str_table *t);
/* The index of s, which is copied when first seen.  At most 2^32 - 2 strings. */
uint32_t str_table_intern(struct str_table *t, struct str s);
/* True, with *index set, if s is in the table. */
bool str_table_find(const struct str_table *t, struct str s, uint32_t *index);

#endif
