#ifndef SONDE_UNWIND_CHAIN_H
#define SONDE_UNWIND_CHAIN_H

/*
 * Whether a frame that was found somewhere on the stack can be the caller of the one at hand: where
 * it leads, and what the calls on the way say. Private to the walker.
 */

#include "unwind/callee.h"
#include "unwind/guess.h"

struct chain_place {
	struct guess_cache *cache;
	const struct unwind_space *space;
	struct unwind_memory *memory;
	/* The function that was entered, and its mapping. */
	const struct unwind_mapping *mapping;
	bool has_start;
	uint64_t start_va;
};

struct chain {
	enum callee first; /* whether the frame's own call entered the function */
	bool is_whole;	   /* rules lead to the outermost frame */
	bool recurs;	   /* the function is on the chain again */
	size_t against;	   /* calls that entered other functions than those that return there */
	/* Calls that any function may have been entered by, but for those in which programs and
	 * threads begin. */
	size_t unknown;
};

/*
 * Follows the frame that goes on at return_va, with sp and bp, outwards by rules alone. bp may be
 * any value: it counts once a rule hangs on it.
 */
struct chain chain_follow(
	const struct chain_place *place, uint64_t return_va, uint64_t sp, uint64_t bp);

#endif
