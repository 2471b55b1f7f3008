#ifndef SONDE_ZONEREPORT_ROWS_H
#define SONDE_ZONEREPORT_ROWS_H

/*
 * Arrays with a row for each node, which grow with the nodes and never shrink.  Rows after the used
 * ones are zeros that take no memory: a program's own history may have 143,360 of each.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many rows to allocate if `needed` are needed. */
uint32_t rows_wanted(uint32_t capacity, uint32_t needed);
/*
 * Grows the array at *array to `wanted` rows, and keeps its `capacity` rows; *array may be NULL.
 * False: out of memory, nothing has changed.
 */
bool rows_grow(void *array, size_t row_bytes, uint32_t capacity, uint32_t wanted);

#endif
