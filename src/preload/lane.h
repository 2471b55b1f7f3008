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
	uint32_t number;			      /* of the slot */
	uint32_t head;				      /* the slot's, but ours */
	uint32_t begin;				      /* of the record being made */
	uint64_t backed_bytes;			      /* of data: have memory */
	struct preload_place places[PRELOAD_RECORDS]; /* the slot's, but ours */
};

/*
 * Takes a free slot below slot_count for the thread of that tid (not 0). base: the shared memory.
 * False: there is none, which is counted.
 */
bool preload_lane_take(struct preload_lane *lane, uint8_t *base, uint32_t slot_count, uint32_t tid);
/* Gives the unused slot back; counts the thread as one without a slot. */
void preload_lane_refuse(struct preload_lane *lane);
/*
 * Room for a record of least to most bytes: *room says how many. NULL: there is not so much, or no
 * memory behind it.
 */
uint8_t *preload_lane_begin(struct preload_lane *lane, size_t least, size_t most, size_t *room);
/* The record is there, in so many bytes of the room. */
void preload_lane_end(struct preload_lane *lane, size_t size);
/* A sample found no room. */
void preload_lane_lose(struct preload_lane *lane);

#endif
