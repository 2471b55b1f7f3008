#ifndef SONDE_ZONEREPORT_ROWS_H
#define SONDE_ZONEREPORT_ROWS_H

/*
 * Arrays with a row for each node, which grow with the nodes and never shrink.  Rows after the used
 * ones are zeros that take no memory: a program's own history may have 262,144 of each.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many rows to have room for, where so many are needed. */
uint32_t rows_wanted(uint32_t capacity, uint32_t needed);
/*
 * Room for `wanted` rows in the array at *array, which has `capacity` that stay, or NULL.  False:
 * no memory, and all is as it was.
 */
bool rows_grow(void *array, size_t row_bytes, uint32_t capacity, uint32_t wanted);

#endif
