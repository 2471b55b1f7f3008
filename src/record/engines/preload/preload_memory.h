#ifndef SONDE_RECORD_ENGINES_PRELOAD_PRELOAD_MEMORY_H
#define SONDE_RECORD_ENGINES_PRELOAD_PRELOAD_MEMORY_H

/*
 * The recorder's end of the memory that it shares with the preloaded library (preload/shared.h).
 *
 * Any process of the target may write anything there at any time.  So each number is read once,
 * checked, and that value is used; a record is copied before it is parsed.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/shared.h"
#include "base/error.h"
#include "record/engines/exact/exact.h"
#include "record/events/perf_record.h"

struct preload_memory {
	int fd;	   /* -1: it is a segment of System V's */
	int shmid; /* of that segment */
	struct preload_header *header;
	struct preload_slot *slots;
	uint8_t *data;		      /* NULL: not enough address space; read and written as a
				         file */
	uint32_t tail[PRELOAD_SLOTS]; /* copies of the slots' tails, which nobody else writes */
	uint32_t lost[PRELOAD_SLOTS]; /* losses of the slots, counted so far */
	uint64_t lost_total;
	uint64_t broken; /* invalid records */
	uint8_t *copy;
	size_t copy_size;
};

/* interval_ns: between samples.  m must be zeroed, and stays zeroed on failure. */
must_use struct error *preload_memory_init(struct preload_memory *m, uint64_t interval_ns);
/* A zeroed one is allowed. */
void preload_memory_deinit(struct preload_memory *m);

/* Where programs find the memory, for their environment. */
struct preload_address {
	char text[64];
};
struct preload_address preload_memory_address(const struct preload_memory *m);
/* Whether a process has it mapped. */
bool preload_memory_is_mapped(const struct preload_memory *m, int64_t pid);

/* The slots with new records, in a word of 64: a bit each. */
uint64_t preload_memory_fresh(struct preload_memory *m, uint32_t word);
/* The number of records waiting in a slot, oldest first. */
uint32_t preload_memory_waiting(struct preload_memory *m, uint32_t slot);
/* The head of a waiting record (0: the oldest).  False: invalid. */
bool preload_memory_peek(
	const struct preload_memory *m, uint32_t slot, uint32_t i, struct preload_record *head);
/* A copy of the whole record, of head.size bytes, valid until the next call; NULL: invalid. */
const uint8_t *preload_memory_copy(struct preload_memory *m, uint32_t slot, uint32_t i);
/*
 * What a PRELOAD_SAMPLE's body has: registers, stack and processor go to *sample, other parts of
 * memory to rest->others; both refer to the body.  took_ns: as in struct preload_sample.  False:
 * invalid.
 */
bool preload_sample_read(const uint8_t *body, size_t size, struct perf_sample *sample,
	struct stack_rest *rest, uint64_t *took_ns);
/* Releases the oldest `count` records. */
void preload_memory_release(struct preload_memory *m, uint32_t slot, uint32_t count);
/* Which parts of a thread's stack are known, from its sample at that time. */
struct preload_known {
	const struct preload_mark *marks;
	uint32_t count; /* 0: nothing; the next sample should be whole */
	uint64_t sample_ns;
};
/* Tells the slot's thread. */
void preload_memory_mark(
	struct preload_memory *m, uint32_t slot, const struct preload_known *known);
/* Tells it where Go's g is, in bytes below its control block; 0: unknown. */
void preload_memory_tell_go(struct preload_memory *m, uint32_t slot, uint32_t below);
/* The time of the thread's last sample, which may not have been taken yet. */
uint64_t preload_memory_last_ns(const struct preload_memory *m, uint32_t slot);
/* Adds the slot's losses since the last call to m->lost_total. */
void preload_memory_count_lost(struct preload_memory *m, uint32_t slot);
/* The thread that owns a slot; 0: none. */
uint32_t preload_memory_owner(const struct preload_memory *m, uint32_t slot);
/* Frees a slot for another thread.  Its thread must have ended, and no records may be waiting. */
void preload_memory_free(struct preload_memory *m, uint32_t slot);

#endif
