#ifndef SONDE_UNWIND_HEURISTICS_GUESS_H
#define SONDE_UNWIND_HEURISTICS_GUESS_H

/* Steps out of code without unwind rules.  Private to the walker. */

#include "unwind/heuristics/bp_chain.h"
#include "unwind/return_address.h"
#include "unwind/step.h"

/*
 * Steps out of a frame without rules. interrupted: its pc is not a return address, so it may be at
 * any point of a function.
 */
enum step guess_step(struct return_cache *cache, struct bp_chain *chain,
	const struct unwind_space *space, bool interrupted, struct unwind_regs *regs,
	struct unwind_memory *memory);

/*
 * The stack pointer that a frame's caller had before the call, if the callee has moved it: for a
 * callee with the frame pointer bp.  False: it has not.
 */
bool guess_moved_sp(struct unwind_memory *memory, uint64_t bp, uint64_t *sp);

#endif
