#ifndef SONDE_RECORD_ENGINES_EXACT_EXACT_RING_H
#define SONDE_RECORD_ENGINES_EXACT_EXACT_RING_H

/*
 * The reading end of the ring that the BPF program copies stacks into.
 *
 * Pieces of several samples lie in it interleaved, as several CPUs write at once; a sample takes
 * its own out of the middle, and they are read where they lie.  Room is given back in the order of
 * the ring, once all that lies before it is done with, or has been moved out of it: another thread
 * does that while the reader is busy, up to EXACT_KEPT_BYTES.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "record/engines/exact/exact.h"

#define EXACT_KEPT_BYTES ((uint64_t)64 << 20)

struct exact_record {
	uint64_t position; /* counted from the start of time */
	uint32_t size;	   /* with its header, as the ring counts */
	bool is_done;
	bool is_held;  /* its piece is the reader's until the next release */
	uint8_t *kept; /* its piece, moved out of the ring; NULL: it is there yet */
};

struct exact_ring {
	pthread_mutex_t lock;
	uint64_t *consumer;	  /* ours, in memory shared with the kernel */
	const uint64_t *producer; /* the kernel's */
	const uint8_t *data;
	uint64_t size_bytes; /* a power of two */
	uint64_t seen;	     /* up to here records are known */
	VEC(struct exact_record) records;
	size_t first;		     /* of records; those before it are over */
	size_t held_begin, held_end; /* of records: those that are held are among these */
	size_t gone;		     /* of records; those before it take no room in the ring */
	uint64_t kept_bytes;
	/* The one record that wraps round the end, put together; 0: none is. */
	uint8_t *joined;
	uint64_t joined_position;
};

/* Uses the memory of a ring, which stays the caller's. */
void exact_ring_init(struct exact_ring *r, uint64_t *consumer, const uint64_t *producer,
	const void *data, uint64_t size_bytes);
void exact_ring_deinit(struct exact_ring *r);

/* Which sample a rest belongs to. */
struct exact_key {
	uint64_t time_ns, sp;
	uint32_t tid;
	uint64_t slack_ns; /* the rest's time may be that much off the sample's; 0: they agree */
};

/*
 * Sets *rest to that of a sample, with no pieces if there is none; false then.  The pieces are in
 * the ring until exact_ring_release.
 */
bool exact_ring_find(struct exact_ring *r, const struct exact_key *key, struct stack_rest *rest);
/*
 * Gives back what was found since the last call, and what is older than before_ns: its sample was
 * lost.
 */
void exact_ring_release(struct exact_ring *r, uint64_t before_ns);

/*
 * From any thread: moves out of the ring what waits in it, if that is much.
 */
void exact_ring_keep(struct exact_ring *r);

#endif
