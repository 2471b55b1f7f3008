#ifndef SONDE_OBJ_RANGE_TABLE_H
#define SONDE_OBJ_RANGE_TABLE_H

/*
 * Address ranges with a value each, for names by address.  Ranges are added in any order and may
 * overlap; flattening makes them sorted and disjoint: among several that cover an address, the one
 * with the highest rank wins.
 */

#include <stddef.h>
#include <stdint.h>

struct range {
	uint64_t low, high; /* [low, high) */
	uint32_t value;
	uint32_t rank; /* if ranks are equal, either wins */
};

struct range_table {
	struct range *data;
	size_t count, capacity;
};

void range_table_deinit(struct range_table *t);
/* Empty ranges are ignored. */
void range_table_add(struct range_table *t, struct range range);
/* Makes the ranges sorted and disjoint; at most doubles their number. */
void range_table_flatten(struct range_table *t);
/* The range that contains addr in a flattened table, or NULL. */
const struct range *range_table_find(const struct range_table *t, uint64_t addr);

#endif
