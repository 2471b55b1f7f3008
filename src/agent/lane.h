#ifndef SONDE_AGENT_LANE_H
#define SONDE_AGENT_LANE_H

/*
 * A thread's end of its slot: puts records into it.  Safe in a signal handler; not to be entered
 * twice at a time.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/shared.h"

struct agent_lane {
	struct agent_header *header;
	struct agent_slot *slot;
	uint8_t *data;
	uint32_t number;			  /* of the slot */
	uint32_t head;				  /* the slot's, but ours */
	uint32_t begin;				  /* of the record being made */
	uint64_t backed_bytes;			  /* of data: have memory */
	struct agent_place places[AGENT_RECORDS]; /* the slot's, but ours */
};

/*
 * Takes a free slot below slot_count for the thread of that tid (not 0). base: the shared memory.
 * False: there is none, which is counted.
 */
bool agent_lane_take(struct agent_lane *lane, uint8_t *base, uint32_t slot_count, uint32_t tid);
/*
 * Room for a record of least to most bytes: *room says how many. NULL: there is not so much, or no
 * memory behind it.
 */
uint8_t *agent_lane_begin(struct agent_lane *lane, size_t least, size_t most, size_t *room);
/* The record is there, in so many bytes of the room. */
void agent_lane_end(struct agent_lane *lane, size_t size);
/* A sample found no room. */
void agent_lane_lose(struct agent_lane *lane);

#endif
