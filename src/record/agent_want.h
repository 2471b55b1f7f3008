#ifndef SONDE_RECORD_AGENT_WANT_H
#define SONDE_RECORD_AGENT_WANT_H

/*
 * How much of its stack a thread that carries the preloaded library is to copy: what the recorder
 * knows of it already need not be copied again, but for a check now and then.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/agent_memory.h"
#include "unwind/walk.h"

/* Of a thread; zero at its start. */
struct agent_want {
	bool was_whole; /* it was wanted whole */
	/* Since then: samples, and the largest copy of the stack. */
	uint32_t samples;
	size_t largest_bytes;
};

/* Its sample, with so much of the stack, was walked, which left that history. */
void agent_want_next(struct agent_want *want, struct agent_memory *memory, uint32_t slot,
	const struct unwind_history *history, size_t stack_bytes);
/* The history is that of another stack, which was read from outside. */
void agent_want_other(struct agent_memory *memory, uint32_t slot,
	const struct unwind_history *history, size_t stack_bytes);

#endif
