#ifndef SONDE_ZONEREPORT_REGION_WORDS_H
#define SONDE_ZONEREPORT_REGION_WORDS_H

/* How the files of region.h read memory that others write. */

#include <string.h>

#include "zonereport/region.h"

/* Of whatever type the memory was written as. */
typedef uint64_t __attribute__((may_alias)) region_any_word;

static inline uint64_t region_word(const void *word)
{
	return __atomic_load_n((const region_any_word *)word, __ATOMIC_RELAXED);
}

static inline uint32_t region_word32(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

/* 8 divides the address that is read, and bytes. */
static inline void region_copy(void *to, const void *from, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += 8) {
		uint64_t word = region_word((const char *)from + i);

		memcpy((char *)to + i, &word, sizeof(word));
	}
}

/* index < the table's capacity. */
static inline const void *region_row(
	const struct zone_region *region, const struct zonewire_table *table, uint32_t index)
{
	return region->data + table->offset + (uint64_t)index * table->row_bytes;
}

/* Rows of a table that are there now; `live` is the same table in the memory itself. */
uint32_t region_row_count(
	const struct zone_region *region, const struct zonewire_table *table, const void *live);

/* What a struct zone_reader keeps. */
struct zone_reader {
	uint32_t capacity; /* of the arrays */
	struct zone_reading reading;
	struct zone_place *place;
	struct zone_counts *counts;
	uint8_t *is_open;
	uint8_t *is_broken;
	uint64_t *total;    /* of the last reading, with what is below */
	uint64_t *children; /* sum of the children's */
	uint8_t *record;    /* a copy of one of the ring of ticks */
	size_t record_bytes;
};

#endif
