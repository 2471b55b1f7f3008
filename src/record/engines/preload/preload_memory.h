#ifndef SONDE_RECORD_ENGINES_PRELOAD_PRELOAD_MEMORY_H
#define SONDE_RECORD_ENGINES_PRELOAD_PRELOAD_MEMORY_H

/*
 * The recorder's end of the memory that it shares with the preloaded library (preload/shared.h):
 * makes it, and takes records out.
 *
 * Any process of the target may write anything there at any time, so each number is fetched once,
 * checked, and used as it was then; a record is copied before it is looked into.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/shared.h"
#include "base/error.h"

struct preload_memory {
	int fd;	   /* -1: it is a segment of System V's */
	int shmid; /* of that */
	struct preload_header *header;
	struct preload_slot *slots;
	uint8_t *
		data; /* NULL: there is no address space for it, it is read and written as a file */
	uint32_t tail[PRELOAD_SLOTS]; /* the slots', but ours */
	uint32_t lost[PRELOAD_SLOTS]; /* of the slots', counted so far */
	uint64_t lost_total;
	uint64_t broken; /* records that were none */
	uint8_t *copy;
	size_t copy_size;
};

/* interval_ns: between samples.  m must be zeroed; it is left so on failure. */
must_use struct error *preload_memory_init(struct preload_memory *m, uint64_t interval_ns);
/* A zeroed one is fine. */
void preload_memory_deinit(struct preload_memory *m);

/* Where programs find it, for their environment. */
struct preload_address {
	char text[64];
};
struct preload_address preload_memory_address(const struct preload_memory *m);
/* Whether a process has it mapped. */
bool preload_memory_is_mapped(const struct preload_memory *m, int64_t pid);

/* The slots with something to take out, of 64: a bit each. */
uint64_t preload_memory_fresh(struct preload_memory *m, uint32_t word);
/* How many records wait in a slot.  Their order is that of their making. */
uint32_t preload_memory_waiting(struct preload_memory *m, uint32_t slot);
/* The head of a waiting record (0: the oldest).  False: it is none. */
bool preload_memory_peek(
	const struct preload_memory *m, uint32_t slot, uint32_t i, struct preload_record *head);
/* A copy of the whole record, of head.size bytes, valid until the next call; NULL: it is none. */
const uint8_t *preload_memory_copy(struct preload_memory *m, uint32_t slot, uint32_t i);
/* The oldest so many records have been taken. */
void preload_memory_release(struct preload_memory *m, uint32_t slot, uint32_t count);
/* Tells the slot's thread which parts of its stack are known; none: its next sample is wanted
 * whole. */
void preload_memory_mark(
	struct preload_memory *m, uint32_t slot, const struct preload_mark *marks, uint32_t count);
/* Adds what the slot has lost since it was last asked to m->lost_total. */
void preload_memory_count_lost(struct preload_memory *m, uint32_t slot);
/* The thread that has a slot; 0: none. */
uint32_t preload_memory_owner(const struct preload_memory *m, uint32_t slot);
/* Lets another thread take the slot; its thread is no more, nothing waits in it. */
void preload_memory_free(struct preload_memory *m, uint32_t slot);

#endif
