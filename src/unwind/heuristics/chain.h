#ifndef SONDE_UNWIND_HEURISTICS_CHAIN_H
#define SONDE_UNWIND_HEURISTICS_CHAIN_H

/*
 * Whether a frame found somewhere on the stack can be the caller of the current one, by where it
 * leads and by the calls on the way. Private to the walker.
 */

#include "unwind/return_address.h"
#include "unwind/step.h"

/* Which function a call entered, as far as the code before the return address shows. */
enum callee {
	CALLEE_UNKNOWN, /* the call is indirect, through a value that is no longer in memory */
	CALLEE_OTHER,	/* another function, which may have ended in a jump to this one */
	CALLEE_THIS,
};

struct chain_place {
	struct return_cache *cache;
	const struct unwind_space *space;
	struct unwind_memory *memory;
	/* The entered function, and its mapping. */
	const struct unwind_mapping *mapping;
	bool has_start;
	uint64_t start_va;
};

struct chain {
	enum callee first; /* whether the frame's own call entered the function */
	bool is_whole;	   /* rules lead to the outermost frame */
	bool is_cut;	   /* they lead to unreadable memory, or an unopened object */
	bool recurs;	   /* the function occurs in the chain again */
	size_t against;	   /* calls that entered a function other than the one that returns there */
	/*
	 * Calls that may have entered any function, except those that start programs and threads.
	 */
	size_t unknown;
};

/*
 * Follows the frame that continues at return_va, with sp and bp, outwards by rules only. bp may be
 * any value: it matters only if a rule depends on it.
 */
struct chain chain_follow(
	const struct chain_place *place, uint64_t return_va, uint64_t sp, uint64_t bp);

/*
 * The function that the call before return_va entered, or a stub that leads to it.  False: the code
 * does not show it.
 */
bool chain_call_target(const struct arch *arch, struct unwind_memory *memory, uint64_t return_va,
	uint64_t *target_va);

#endif
