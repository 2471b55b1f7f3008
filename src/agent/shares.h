#ifndef SONDE_AGENT_SHARES_H
#define SONDE_AGENT_SHARES_H

/*
 * How the memory of the agent is divided among its processes, so that all together never have more
 * than its limit.  Each look adds up what they have and may take; what is left is given to those
 * that take samples, then to names, and a part is kept for the start of the next segment:
 *
 *	shares_begin(&s, limit);
 *	shares_add(&s, memory_of(pid), limit_bytes);  for each process
 *	shares_add_sampler(&s, memory_of(pid));       for each that takes samples, likewise
 *	shares_add_rings(&s, ring_bytes);             for each that has rings
 *	shares_end(&s, …);
 *
 * All sizes are bytes of memory_use.mapped_bytes.  Pure: no clock, no process.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"

struct shares {
	uint64_t most_bytes;		  /* the limit */
	uint64_t taken_bytes, ring_bytes; /* of all so far; of one segment's rings */
	uint64_t room_bytes;		  /* neither taken nor promised */
	uint64_t free_bytes;		  /* of that, what is not kept for the next segment */
	uint64_t lent_bytes;		  /* what names have of what was kept */
	uint64_t need_bytes;		  /* what a segment needs, as far as seen */
	uint64_t growth_bytes;		  /* what those that take samples may need to get there */
	size_t samplers;
	bool is_starting; /* the next segment has its share already */
};

void shares_begin(struct shares *s, uint64_t most_bytes);
/* A process that may have limit_bytes mapped; 0: it does not grow. */
void shares_add(struct shares *s, struct memory_use use, uint64_t limit_bytes);
/* The same for a segment that is about to take samples. */
void shares_add_starting(struct shares *s, struct memory_use use, uint64_t limit_bytes);
/* A segment that takes samples; its limit follows from the result. */
void shares_add_sampler(struct shares *s, struct memory_use use);
void shares_add_rings(struct shares *s, uint64_t ring_bytes);
/* All have been added; is_naming: the names of a segment are being resolved. */
void shares_end(struct shares *s, bool is_naming);

/* What each segment that takes samples may take in addition. */
uint64_t shares_of_sampler(const struct shares *s);
/*
 * Whether there is room for another segment.  If not, it must wait until one has ended, as both
 * would have too little.
 */
bool shares_have_room(const struct shares *s);
/*
 * What the next segment may take; the shares of the others are smaller then.  is_only: there is no
 * other, so it begins with however little there is.
 */
uint64_t shares_take_for_next(struct shares *s, bool is_only);
/*
 * What names may take; 0: there is not enough.  is_next_far: the next segment does not start soon,
 * so they may have what is kept for it.
 */
uint64_t shares_take_for_names(struct shares *s, bool is_next_far);
/* Whether a segment that takes samples is about to have no more memory. */
bool shares_are_tight(const struct shares *s);

/* A segment ended that had so much. */
void shares_learn(struct shares *s, uint64_t mapped_bytes);
/* A segment ended as it needed more than that limit. */
void shares_learn_refusal(struct shares *s, uint64_t limit_bytes);

#endif
