#ifndef SONDE_RECORD_ENGINES_EXACT_EXACT_RING_H
#define SONDE_RECORD_ENGINES_EXACT_EXACT_RING_H

/*
 * Reads the ring that the BPF program copies stacks into.
 *
 * Pieces of several samples are interleaved in it, as several CPUs write at once.  A sample takes
 * its pieces from the middle, and they are read in place.  Room is released in ring order, when
 * everything before it has been processed or moved out of the ring: another thread does that while
 * the reader is busy, up to EXACT_KEPT_BYTES.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "record/engines/exact/exact.h"

#define EXACT_KEPT_BYTES ((uint64_t)64 << 20)

struct exact_record {
	uint64_t position; /* since the ring was created */
	uint32_t size;	   /* with its header, padded as in the ring */
	bool is_done;
	bool is_held;  /* the reader uses its piece until the next release */
	uint8_t *kept; /* its piece, moved out of the ring; NULL: still there */
};

struct exact_ring {
	pthread_mutex_t lock;
	uint64_t *consumer;	  /* ours, in memory shared with the kernel */
	const uint64_t *producer; /* the kernel's */
	const uint8_t *data;
	uint64_t size_bytes; /* a power of two */
	uint64_t seen;	     /* records up to here are in `records` */
	VEC(struct exact_record) records;
	size_t first;		     /* index in records; those before it have been processed */
	size_t held_begin, held_end; /* indexes in records: the range of held ones */
	size_t gone; /* index in records; those before it take no room in the ring */
	uint64_t kept_bytes;
	/* The one record that wraps at the end, joined. */
	uint8_t *joined;
	uint64_t joined_position;
};

/* Uses the memory of a ring, which stays the caller's. */
void exact_ring_init(struct exact_ring *r, uint64_t *consumer, const uint64_t *producer,
	const void *data, uint64_t size_bytes);
void exact_ring_deinit(struct exact_ring *r);

/* Identifies the sample of a rest. */
struct exact_key {
	uint64_t time_ns, sp;
	uint32_t tid;
	uint64_t slack_ns; /* maximum difference between the times of rest and sample */
};

/*
 * Sets *rest to a sample's.  False: there is none, and *rest has no pieces.  The pieces stay in the
 * ring until exact_ring_release.
 */
bool exact_ring_find(struct exact_ring *r, const struct exact_key *key, struct stack_rest *rest);
/*
 * Releases everything found since the last call, and everything older than before_ns, because its
 * sample was lost.
 */
void exact_ring_release(struct exact_ring *r, uint64_t before_ns);

/* May be called from any thread: if much is waiting, moves it out of the ring. */
void exact_ring_keep(struct exact_ring *r);

#endif
