#ifndef SONDE_RECORD_RECENT_H
#define SONDE_RECORD_RECENT_H

/*
 * The queue of a recording that keeps only its last part (--keep): samples, and rows and ticks of
 * zones, in the order in which they came.  The oldest are dropped, and the rest is written at the
 * end.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"

enum recent_kind {
	RECENT_SAMPLE,	 /* struct capture_sample, with as many weights as there are metrics */
	RECENT_ZONE_ROW, /* struct capture_zone_row */
	RECENT_TICK,	 /* struct capture_tick; recent_name has the name of its stream */
};

struct recent_entry {
	uint64_t end_ns; /* since the recording's start */
	enum recent_kind kind;
	const void *data; /* in the queue; aligned for its kind */
	size_t size;
};

/* Zeroed: empty. */
struct recent {
	uint8_t *bytes;
	size_t begin, end, capacity; /* entries are from begin to end */
	struct arena *arena;
	struct str_table names;
};

void recent_deinit(struct recent *r);
/* Copies the entry to the end. */
void recent_add(struct recent *r, const struct recent_entry *entry);
/* A copy of the string that lives as long as the queue. */
struct str recent_name(struct recent *r, struct str name);
/* The first entry, until the next call; false: there is none. */
bool recent_first(const struct recent *r, struct recent_entry *entry);
void recent_drop_first(struct recent *r);
/* The bytes in use. */
static inline size_t recent_size(const struct recent *r)
{
	return r->end - r->begin;
}

#endif
