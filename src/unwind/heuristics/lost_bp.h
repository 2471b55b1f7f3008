#ifndef SONDE_UNWIND_HEURISTICS_LOST_BP_H
#define SONDE_UNWIND_HEURISTICS_LOST_BP_H

/*
 * Finds the frame pointer of a frame that has one, if the register's value is unknown.  Private to
 * the walker.
 */

#include "obj/code_depth.h"
#include "unwind/return_address.h"
#include "unwind/step.h"

enum { LOST_BP_CACHE_SIZE = 256 };

/* Cached results for places, by address and space. */
struct lost_bp_cache {
	struct {
		uint64_t va, generation;
		struct code_depth depth;
	} slots[LOST_BP_CACHE_SIZE];
};

struct lost_bp {
	struct return_cache *returns;
	struct lost_bp_cache *cache;
	const struct unwind_space *space;
	struct unwind_memory *memory;
	uint64_t va;		/* of an instruction in the frame's function */
	uint64_t sp;		/* of the frame */
	uint64_t return_offset; /* the return address is at bp + this, the caller's bp at bp + this
				   - 8 */
};

enum lost_bp_verdict {
	LOST_BP_NOT_FOUND,
	LOST_BP_GUESSED, /* a frame that may have called this function, but another may have as well
			  * */
	LOST_BP_FOUND,	 /* the code leaves no other place for it */
};

enum lost_bp_verdict lost_bp_find(const struct lost_bp *frame, uint64_t *bp);

#endif
