#ifndef SONDE_BASE_SORT_H
#define SONDE_BASE_SORT_H

/*
 * Sorting by a 64-bit key, in linear time: what libc's qsort does with a function call for each
 * comparison takes several times as long for tables of some ten thousand entries.
 */

#include <stddef.h>
#include <stdint.h>

/* A thing to be sorted: by what, and which one it is. */
struct sort_item {
	uint64_t key;
	uint32_t index;
};

/* So that descending figures have ascending keys. */
static inline uint64_t sort_key_descending(int64_t figure)
{
	return ~((uint64_t)figure ^ 1ull << 63);
}

/* Sorts by key, ascending; items of one key stay in the order in which they are. */
void sort_items(struct sort_item *items, size_t count);

#endif
