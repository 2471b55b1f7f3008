#ifndef SONDE_RECORD_ENGINES_PRELOAD_PRELOAD_THREAD_H
#define SONDE_RECORD_ENGINES_PRELOAD_PRELOAD_THREAD_H

/*
 * What the recorder knows of each thread that carries the preloaded library: what its samples
 * weigh, and how much of its stack it is to copy.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/engines/exact/exact_tuning.h"
#include "record/engines/preload/preload_memory.h"
#include "unwind/walk.h"

/* ---- weights ---- */

/*
 * A sample weighs the CPU time that its thread has used since the last one, so that weights add up
 * to the CPU time.
 *
 * A thread's CPU time after its last sample is in no sample, and most threads shorter than the
 * interval end without any.  Samples find such threads in proportion to their time.  So what all of
 * them used is shared out among their first samples, one interval to each: what threads use before
 * their first sample and after their last goes to a pool, and the pool pays for first samples.
 */

struct preload_pool {
	uint64_t interval_ns;
	uint64_t owed_ns;  /* used, but in no sample yet */
	uint64_t total_ns; /* used by all threads */
};

/* Of a thread; zero at its start. */
struct preload_account {
	uint64_t used_ns, weighed_ns;
	bool was_sampled;
};

/* The thread had used cpu_ns when it was sampled.  Returns the sample's weight. */
uint64_t preload_pool_sample(
	struct preload_pool *pool, struct preload_account *account, uint64_t cpu_ns);
/* It has used cpu_ns by now. */
void preload_pool_use(struct preload_pool *pool, struct preload_account *account, uint64_t cpu_ns);
/* It has ended. */
void preload_pool_end(struct preload_pool *pool, struct preload_account *account);

/* ---- how much of the stack ---- */

/*
 * What the recorder already knows of a stack need not be copied again, except for a check now and
 * then.
 */

/* Of a thread; zero at its start. */
struct preload_want {
	bool was_whole; /* a whole stack was requested */
	/* Since then: samples, and the largest copy of the stack. */
	uint32_t samples;
	size_t largest_bytes;
	bool has_marks; /* the next sample is taken with marks */
	struct marks_trust trust;
};

/* A sample of the thread was walked, which left this history. */
struct preload_walked {
	const struct unwind_history *history;
	size_t stack_bytes; /* of stack in the sample */
	bool was_short;	    /* the walk needed more */
};
void preload_want_next(struct preload_want *want, struct preload_memory *memory, uint32_t slot,
	const struct preload_walked *walked);
/* The same after a stack that was read from outside. */
void preload_want_other(struct preload_memory *memory, uint32_t slot,
	const struct unwind_history *history, size_t stack_bytes);

#endif
