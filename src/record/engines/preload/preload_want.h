#ifndef SONDE_RECORD_ENGINES_PRELOAD_PRELOAD_WANT_H
#define SONDE_RECORD_ENGINES_PRELOAD_PRELOAD_WANT_H

/*
 * How much of its stack a thread that carries the preloaded library is to copy: what the recorder
 * knows of it already need not be copied again, but for a check now and then.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/engines/exact/exact_marks.h"
#include "record/engines/preload/preload_memory.h"
#include "unwind/walk.h"

/* Of a thread; zero at its start. */
struct preload_want {
	bool was_whole; /* it was wanted whole */
	/* Since then: samples, and the largest copy of the stack. */
	uint32_t samples;
	size_t largest_bytes;
	bool has_marks; /* the next sample is taken with marks */
	struct marks_trust trust;
};

/* A sample of the thread's was walked, which left that history. */
struct preload_walked {
	const struct unwind_history *history;
	size_t stack_bytes; /* that the sample had of the stack */
	bool was_short;	    /* the walk needed more */
};
void preload_want_next(struct preload_want *want, struct preload_memory *memory, uint32_t slot,
	const struct preload_walked *walked);
/* The history is that of another stack, which was read from outside. */
void preload_want_other(struct preload_memory *memory, uint32_t slot,
	const struct unwind_history *history, size_t stack_bytes);

#endif
