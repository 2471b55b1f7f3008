#ifndef SONDE_FORMATS_SONDE_LAYOUT_CAPTURE_PREDICTOR_H
#define SONDE_FORMATS_SONDE_LAYOUT_CAPTURE_PREDICTOR_H

/*
 * Guesses the next frame of a stack from its caller: for each frame, the last few frames seen below
 * it, the latest first.  Encoder and decoder update identical predictors, so that a correctly
 * guessed frame costs a small number instead of an id.
 *
 * Frames are numbered densely, so most contexts are found by frame number.  A file may use any
 * number; numbers too high for its size are found in a hash table.
 */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/compiler.h"

enum { PREDICTOR_WAYS = 7, PREDICTOR_KNOWN_BITS = 3 };

/* Half a cache line. */
struct predictor_context {
	uint32_t child[PREDICTOR_WAYS]; /* latest first */
	uint32_t state;			/* the number of known children; above
					   PREDICTOR_KNOWN_BITS, the turn */
};

struct predictor_slot;

/* A zeroed one is empty. */
struct predictor {
	struct predictor_context *by_frame;
	size_t frame_count;
	uint32_t turn; /* contexts of earlier turns count as empty */
	struct predictor_slot *slots;
	size_t count, capacity;
};

void predictor_deinit(struct predictor *p);
/*
 * Forgets everything, before `nodes` nodes with frames mostly below `frames`.  Memory depends on
 * the number of nodes, not of frames: at most two contexts per node, or 16,384 contexts.
 */
void predictor_begin(struct predictor *p, size_t frames, size_t nodes);
/* predictor_find for a frame that is not found by number. */
struct predictor_context *predictor_seek(struct predictor *p, uint32_t caller);
/* The way of `child`, or PREDICTOR_WAYS. */
uint32_t predictor_way(const struct predictor_context *context, uint32_t child);

/* The known frames below `caller`; valid until the next call.  caller < UINT32_MAX. */
static inline struct predictor_context *predictor_find(struct predictor *p, uint32_t caller)
{
	if (unlikely(caller >= p->frame_count))
		return predictor_seek(p, caller);
	struct predictor_context *context = &p->by_frame[caller];
	if (context->state >> PREDICTOR_KNOWN_BITS != p->turn)
		context->state = p->turn << PREDICTOR_KNOWN_BITS;
	return context;
}

/* The number of known children. */
static inline uint32_t predictor_known(const struct predictor_context *context)
{
	return context->state & ((1u << PREDICTOR_KNOWN_BITS) - 1);
}

/* Makes the child at `way` the latest; PREDICTOR_WAYS: a new child. */
static inline void predictor_learn(struct predictor_context *context, uint32_t way, uint32_t child)
{
	uint32_t *c = context->child;
	uint32_t last = way, moved[PREDICTOR_WAYS - 1];

	if (way == PREDICTOR_WAYS) {
		context->state += predictor_known(context) < PREDICTOR_WAYS;
		last = predictor_known(context) - 1;
	}
	switch (last) {
	case 6: /* the most frequent case of failed guesses: avoid a call */
		memcpy(moved, &c[0], sizeof(moved));
		memcpy(&c[1], moved, sizeof(moved));
		break;
	case 5:
		c[5] = c[4]; /* fallthrough */
	case 4:
		c[4] = c[3]; /* fallthrough */
	case 3:
		c[3] = c[2]; /* fallthrough */
	case 2:
		c[2] = c[1]; /* fallthrough */
	case 1:
		c[1] = c[0]; /* fallthrough */
	default:
		break;
	}
	c[0] = child;
}

#endif
