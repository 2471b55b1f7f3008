#ifndef SONDE_RECORD_ENGINES_EXACT_STACK_REST_H
#define SONDE_RECORD_ENGINES_EXACT_STACK_REST_H

/*
 * What was copied of a sample's stack besides its dump, at the moment of the sample: pieces of
 * memory that stand still for as long as whoever copied them says.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct stack_piece {
	const uint8_t *bytes;
	uint64_t low_va;
	uint64_t size_bytes;
};

/* Why a rest ends where it does. */
enum stack_rest_end {
	STACK_REST_WHOLE,   /* at the end of the stack, so far as that could be told */
	STACK_REST_MARKED,  /* where the stack is taken to be what it was at the last sample */
	STACK_REST_LIMITED, /* at a limit of bytes */
};

struct stack_rest {
	VEC(struct stack_piece) pieces; /* ascending; what is missing between was not to be had */
	uint64_t low_va, high_va;	/* that were to be copied */
	enum stack_rest_end end;
	bool is_wanted; /* it was asked to be whole */
};

#endif
