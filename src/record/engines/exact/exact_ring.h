#ifndef SONDE_RECORD_ENGINES_EXACT_EXACT_RING_H
#define SONDE_RECORD_ENGINES_EXACT_EXACT_RING_H

/*
 * The reading end of the ring that the BPF program copies stacks into.
 *
 * Pieces of several samples are interleaved in it, as several CPUs write at once.  A sample takes
 * its own from the middle, and they are read in place.  Room is given back in the order of the
 * ring, once everything before it is done, or has been moved out of the ring: another thread does
 * that while the reader is busy, up to EXACT_KEPT_BYTES.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "record/engines/exact/exact.h"

#define EXACT_KEPT_BYTES ((uint64_t)64 << 20)

struct exact_record {
	uint64_t position; /* since the ring was made */
	uint32_t size;	   /* with its header, padded as in the ring */
	bool is_done;
	bool is_held;  /* the reader uses its piece until the next release */
	uint8_t *kept; /* its piece, moved out of the ring; NULL: still in the ring */
};

struct exact_ring {
	pthread_mutex_t lock;
	uint64_t *consumer;	  /* ours, in memory shared with the kernel */
	const uint64_t *producer; /* the kernel's */
	const uint8_t *data;
	uint64_t size_bytes; /* a power of two */
	uint64_t seen;	     /* up to here records are in `records` */
	VEC(struct exact_record) records;
	size_t first;		     /* index in records; those before it are done */
	size_t held_begin, held_end; /* indices in records: held ones are between these */
	size_t gone; /* index in records; those before it take no room in the ring */
	uint64_t kept_bytes;
	/* The one record that wraps at the end, put together. */
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
	uint64_t slack_ns; /* the rest's time may differ by this from the sample's */
};

/*
 * Sets *rest to that of a sample.  False: there is none, and *rest has no pieces.  The pieces stay
 * in the ring until exact_ring_release.
 */
bool exact_ring_find(struct exact_ring *r, const struct exact_key *key, struct stack_rest *rest);
/*
 * Gives back what was found since the last call, and what is older than before_ns, as its sample
 * was lost.
 */
void exact_ring_release(struct exact_ring *r, uint64_t before_ns);

/*
 * From any thread: moves what waits out of the ring, if it is much.
 */
void exact_ring_keep(struct exact_ring *r);

#endif
