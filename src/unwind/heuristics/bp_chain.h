#ifndef SONDE_UNWIND_HEURISTICS_BP_CHAIN_H
#define SONDE_UNWIND_HEURISTICS_BP_CHAIN_H

/*
 * Whether an address in code generated at run time is a return address although no call precedes
 * it, by the frame pointers outside it. Private to the walker.
 */

#include "unwind/return_address.h"
#include "unwind/step.h"

/* What one walk knows. */
struct bp_chain {
	uint64_t next_bp;    /* the next frame pointer in the chain that was followed last … */
	uint64_t sound_va;   /* … and holds up to here; 0: none was followed */
	unsigned int broken; /* the number of chains that did not hold, or left one that did */
};

/*
 * Whether a frame can return to return_va, with bp for the caller's frame pointer, above sp, its
 * stack pointer: return_va is in generated code, and from bp on, each saved frame pointer is
 * further out than the one before and each return address is in generated code, until one follows a
 * call. All walks together read no more than a few times the stack.
 */
bool bp_chain_holds(struct bp_chain *chain, struct return_cache *cache,
	const struct unwind_space *space, struct unwind_memory *memory, uint64_t return_va,
	uint64_t sp, uint64_t bp);

#endif
