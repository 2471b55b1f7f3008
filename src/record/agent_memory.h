#ifndef SONDE_RECORD_AGENT_MEMORY_H
#define SONDE_RECORD_AGENT_MEMORY_H

/*
 * The recorder's end of the memory that it shares with the preloaded library (agent/shared.h):
 * makes it, and takes records out.
 *
 * Any process of the target may write anything there at any time, so each number is fetched once,
 * checked, and used as it was then; a record is copied before it is looked into.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/shared.h"
#include "base/error.h"

struct agent_memory {
	int fd;
	struct agent_header *header;
	struct agent_slot *slots;
	uint8_t *data;
	uint32_t tail[AGENT_SLOTS]; /* the slots', but ours */
	uint32_t lost[AGENT_SLOTS]; /* of the slots', counted so far */
	uint64_t lost_total;
	uint64_t broken; /* records that were none */
	uint8_t *copy;
	size_t copy_size;
};

/* interval_ns: between samples.  m must be zeroed; it is left so on failure. */
must_use struct error *agent_memory_init(struct agent_memory *m, uint64_t interval_ns);
/* A zeroed one is fine. */
void agent_memory_deinit(struct agent_memory *m);

/* The slots with something to take out, of 64: a bit each. */
uint64_t agent_memory_fresh(struct agent_memory *m, uint32_t word);
/* How many records wait in a slot.  Their order is that of their making. */
uint32_t agent_memory_waiting(struct agent_memory *m, uint32_t slot);
/* The head of a waiting record (0: the oldest).  False: it is none. */
bool agent_memory_peek(
	const struct agent_memory *m, uint32_t slot, uint32_t i, struct agent_record *head);
/* A copy of the whole record, of head.size bytes, valid until the next call; NULL: it is none. */
const uint8_t *agent_memory_copy(struct agent_memory *m, uint32_t slot, uint32_t i);
/* The oldest so many records have been taken. */
void agent_memory_release(struct agent_memory *m, uint32_t slot, uint32_t count);
/* Tells the slot's thread which parts of its stack are known; none: its next sample is wanted
 * whole. */
void agent_memory_mark(
	struct agent_memory *m, uint32_t slot, const struct agent_mark *marks, uint32_t count);
/* Adds what the slot has lost since it was last asked to m->lost_total. */
void agent_memory_count_lost(struct agent_memory *m, uint32_t slot);
/* The thread that has a slot; 0: none. */
uint32_t agent_memory_owner(const struct agent_memory *m, uint32_t slot);
/* Lets another thread take the slot; its thread is no more, nothing waits in it. */
void agent_memory_free(struct agent_memory *m, uint32_t slot);

#endif
