#ifndef SONDE_RECORD_ENGINES_PRELOAD_PRELOAD_BATCH_H
#define SONDE_RECORD_ENGINES_PRELOAD_PRELOAD_BATCH_H

/* The records that wait in all slots at one time, in the order of their times. */

#include "base/vec.h"
#include "record/engines/preload/preload_memory.h"

struct preload_waiting {
	uint64_t time_ns; /* that of an earlier record of its slot, if that is later */
	uint32_t slot, i; /* for preload_memory_copy */
	uint32_t type;	  /* as its head says now: the target may change it */
};

/* A zeroed one is empty. */
struct preload_batch {
	VEC(struct preload_waiting) records;
	VEC(uint32_t) slots;		    /* that have any */
	uint32_t slot_count[PRELOAD_SLOTS]; /* how many of their records are in the batch */
};

void preload_batch_deinit(struct preload_batch *b);
/* Collects what waits now into an empty batch.  Counts invalid records as broken. */
void preload_batch_take(struct preload_batch *b, struct preload_memory *m);
/* Releases the records in the memory; the batch keeps its slots until it is emptied. */
void preload_batch_release(const struct preload_batch *b, struct preload_memory *m);
void preload_batch_clear(struct preload_batch *b);

#endif
