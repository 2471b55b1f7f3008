#ifndef SONDE_UNWIND_CALLEE_H
#define SONDE_UNWIND_CALLEE_H

/*
 * Which function a call entered, as far as the code before the return address shows. Private to the
 * walker.
 */

#include "unwind/step.h"

enum callee {
	CALLEE_UNKNOWN, /* the call is indirect, through a value that is no longer in memory */
	CALLEE_OTHER,	/* another function, which may have ended in a jump to this one */
	CALLEE_THIS,
};

/* Whether the call that returns to return_va entered the function that begins at start_va. */
enum callee callee_is(const struct arch *arch, struct unwind_memory *memory, uint64_t return_va,
	uint64_t start_va);

#endif
