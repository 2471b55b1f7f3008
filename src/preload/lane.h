#ifndef SONDE_PRELOAD_LANE_H
#define SONDE_PRELOAD_LANE_H

/* The thread's side of its slot: writes records. Safe in a signal handler, but not reentrant. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/shared.h"

struct preload_lane {
	struct preload_header *header;
	struct preload_slot *slot;
	uint8_t *data;
	uint64_t data_bytes;
	uint32_t number;	   /* of the slot */
	uint32_t head;		   /* own copy of the slot's */
	uint32_t begin;		   /* of the current record */
	uint64_t backed_bytes;	   /* of the data: bytes that have memory */
	struct preload_place last; /* own copy of the last record's */
};

/*
 * Takes an unused slot below slot_count for the thread with that tid (not 0).  base: the shared
 * memory.  False: there is none, which is counted.
 */
bool preload_lane_take(struct preload_lane *lane, uint8_t *base, uint32_t slot_count, uint32_t tid);
/* Returns the unused slot; counts the thread as one without a slot. */
void preload_lane_refuse(struct preload_lane *lane);
/*
 * Room for a record of least to most bytes; *room is its size.  NULL: there is not enough room or
 * memory.
 */
uint8_t *preload_lane_begin(struct preload_lane *lane, size_t least, size_t most, size_t *room);
/* Completes the record, which has that size. */
void preload_lane_end(struct preload_lane *lane, size_t size);
/* Counts a sample without room. */
void preload_lane_lose(struct preload_lane *lane);

#endif
