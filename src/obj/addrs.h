#ifndef SONDE_OBJ_ADDRS_H
#define SONDE_OBJ_ADDRS_H

/* Ascending arrays of wanted addresses. */

#include <stddef.h>
#include <stdint.h>

/* The index of the first of addrs[count] that is addr or above; count if there is none. */
static inline size_t addrs_first_from(const uint64_t *addrs, size_t count, uint64_t addr)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (addrs[middle] < addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

#endif
