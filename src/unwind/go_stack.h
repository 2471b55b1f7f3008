#ifndef SONDE_UNWIND_GO_STACK_H
#define SONDE_UNWIND_GO_STACK_H

/*
 * Steps from one stack to another in programs with Go's runtime.  Private to the walker.
 */

#include "obj/cfi.h"
#include "unwind/return_address.h"
#include "unwind/step.h"

struct go_frame {
	struct return_cache *returns;
	const struct unwind_space *space;
	struct unwind_memory *memory;
	const struct unwind_mapping *mapping; /* of the runtime's function */
	enum cfi_go_kind kind;
	/* The frames up to this one, the innermost first. */
	const struct unwind_frame *inner;
	size_t inner_count;
	uint64_t g; /* the thread's current g, if the sample's registers show it; else 0 */
};

/*
 * Steps out of a frame that runs on another stack than its caller's.  STEP_NO_RULE: the other stack
 * was not found.
 */
enum step go_step(const struct go_frame *frame, struct unwind_regs *regs);

#endif
