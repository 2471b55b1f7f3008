/*
 * Growing allocates a new array: untouched zeros from the allocator take no memory, while clearing
 * a larger block by hand would take all of it at once.
 */
#include "zonereport/rows.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST = 256 };

uint32_t rows_wanted(uint32_t capacity, uint32_t needed)
{
	uint32_t wanted = capacity ? capacity : FIRST;

	while (wanted < needed)
		wanted *= 2;
	return wanted;
}

bool rows_grow(void *array, size_t row_bytes, uint32_t capacity, uint32_t wanted)
{
	void **place = array;
	void *grown = calloc(wanted, row_bytes);

	if (!grown)
		return false;
	if (capacity)
		memcpy(grown, *place, row_bytes * capacity);
	free(*place);
	*place = grown;
	return true;
}
