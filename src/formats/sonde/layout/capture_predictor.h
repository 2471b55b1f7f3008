#ifndef SONDE_FORMATS_SONDE_LAYOUT_CAPTURE_PREDICTOR_H
#define SONDE_FORMATS_SONDE_LAYOUT_CAPTURE_PREDICTOR_H

/*
 * Guesses the next frame of a stack from the frame that calls it: for each frame, the last few
 * frames seen below it, the latest first.  Encoder and decoder keep one each and tell both the
 * same, so that a frame that was guessed costs a small number instead of an id.
 */

#include <stddef.h>
#include <stdint.h>

enum { PREDICTOR_WAYS = 7 };

struct predictor_context {
	uint32_t frame_plus_1;		/* 0: free */
	uint32_t child[PREDICTOR_WAYS]; /* the latest first */
	uint32_t child_count;
};

struct predictor {
	struct predictor_context *slots;
	size_t count, capacity;
};

void predictor_deinit(struct predictor *p);
/* Forgets all, keeps the memory. */
void predictor_clear(struct predictor *p);
/* What is known of the frames below `caller`; good until the next call.  caller < UINT32_MAX. */
struct predictor_context *predictor_find(struct predictor *p, uint32_t caller);
/* The way that `child` is at, or PREDICTOR_WAYS. */
uint32_t predictor_way(const struct predictor_context *context, uint32_t child);
/* Makes the child at `way` the latest; PREDICTOR_WAYS: a new one. */
void predictor_learn(struct predictor_context *context, uint32_t way, uint32_t child);

#endif
