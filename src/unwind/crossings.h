#ifndef SONDE_UNWIND_CROSSINGS_H
#define SONDE_UNWIND_CROSSINGS_H

/*
 * The callers of frames whose caller is on another stack, as seen in complete stacks: a guess for
 * a stack that cannot be followed there, because the other stack has changed since the sample.
 */

#include "unwind/walk.h"

enum { UNWIND_CROSSINGS = 1024 };

/* A zeroed one is empty. */
struct unwind_crossings {
	struct unwind_crossing {
		uint64_t pc, bp;      /* of the frame with the other stack */
		uint64_t inner_pc;    /* of the frame that it called */
		uint32_t owner, node; /* node: the caller's; 0: unused */
	} slots[UNWIND_CROSSINGS];
};

/*
 * Keeps those of a complete stack without guesses; its frames have their nodes.  owner: a process.
 */
void unwind_crossings_keep(
	struct unwind_crossings *crossings, uint32_t owner, const struct unwind_stack *stack);
/* The node of the caller of the stack's outermost frame; 0: not seen. */
uint32_t unwind_crossings_find(
	const struct unwind_crossings *crossings, uint32_t owner, const struct unwind_stack *stack);

#endif
