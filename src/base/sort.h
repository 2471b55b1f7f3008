#ifndef SONDE_BASE_SORT_H
#define SONDE_BASE_SORT_H

/*
 * Sorting by a 64-bit key, in linear time: for tables of some ten thousand entries, libc's qsort,
 * with a function call for each comparison, takes several times as long.  And what such functions
 * consist of.
 */

#include <stddef.h>
#include <stdint.h>

/* -1, 0 or 1; "?:" between two of them makes the second decide where the first is 0. */
#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* An item to sort: its key and its index. */
struct sort_item {
	uint64_t key;
	uint32_t index;
};

/* A key that ascends as figures descend. */
static inline uint64_t sort_key_descending(int64_t figure)
{
	return ~((uint64_t)figure ^ 1ull << 63);
}

/* Sorts by key, ascending; the sort is stable. */
void sort_items(struct sort_item *items, size_t count);

#endif
