#ifndef SONDE_ZONEREPORT_REGION_WORDS_H
#define SONDE_ZONEREPORT_REGION_WORDS_H

/* How the files of region.h read memory that another program may be writing. */

#include <stdbool.h>
#include <string.h>

#include "zonereport/region.h"

/* Memory may have been written as any type. */
typedef uint64_t __attribute__((may_alias)) region_any_word;

static inline uint64_t region_word(const void *word)
{
	return __atomic_load_n((const region_any_word *)word, __ATOMIC_RELAXED);
}

static inline uint32_t region_word32(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

/* The source address and bytes are multiples of 8. */
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

/* The present number of a table's rows; `live` is the same table in the memory itself. */
uint32_t region_row_count(
	const struct zone_region *region, const struct zonewire_table *table, const void *live);

/* Additional data of a struct zone_reader about a node. */
struct zone_look {
	uint32_t first_child, next_sibling; /* of known nodes; 0: none */
	/* The shared words, as they were when deciding whether to visit nodes below it. */
	int64_t ticks;
	uint64_t entries;
	uint64_t total;	   /* its total time at the last reading */
	uint64_t children; /* the sum of its children's */
	bool is_broken;
	bool stirs; /* it was open, had changed or had a new child: visit below it again */
};

/* The state of a struct zone_reader. */
struct zone_reader {
	uint32_t capacity; /* of the arrays */
	struct zone_reading reading;
	struct zone_place *place;
	struct zone_counts *counts;
	uint8_t *is_open;
	struct zone_look *look;
	uint32_t *changed;    /* of the last reading; parents before their children */
	uint32_t known_below; /* all nodes below this number are known or invalid */
	uint8_t *record;      /* a copy of a record in the ring of ticks */
	size_t record_bytes;
};

#endif
