#ifndef SONDE_OBJ_ADDRS_H
#define SONDE_OBJ_ADDRS_H

/* Ascending arrays of wanted addresses. */

#include <stddef.h>
#include <stdint.h>

#include "base/search.h"

/* The index of the first of addrs[count] that is at least addr; count if there is none. */
static inline size_t addrs_first_from(const uint64_t *addrs, size_t count, uint64_t addr)
{
	return partition_point(i, 0, count, addrs[i] < addr);
}

#endif
