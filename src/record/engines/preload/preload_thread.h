#ifndef SONDE_RECORD_ENGINES_PRELOAD_PRELOAD_THREAD_H
#define SONDE_RECORD_ENGINES_PRELOAD_PRELOAD_THREAD_H

/*
 * The recorder's data about each thread with the preloaded library: the weights of its samples, and
 * how much of its stack to copy.
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
 * A thread's CPU time after its last sample is not covered, and most threads shorter than the
 * interval end without any sample.  Samples hit such threads in proportion to their time.  So the
 * time of all of them is divided among their first samples, one interval to each: the time before a
 * thread's first sample and after its last one goes to a pool, and the pool pays for first samples.
 */

struct preload_pool {
	uint64_t interval_ns;
	uint64_t owed_ns;  /* used, but not covered by a sample yet */
	uint64_t total_ns; /* used by all threads */
};

/* A thread's account; zero at its start. */
struct preload_account {
	uint64_t used_ns, weighed_ns;
	bool was_sampled;
};

/* The thread had used cpu_ns when it was sampled.  Returns the sample's weight. */
uint64_t preload_pool_sample(
	struct preload_pool *pool, struct preload_account *account, uint64_t cpu_ns);
/* The thread has used cpu_ns by now. */
void preload_pool_use(struct preload_pool *pool, struct preload_account *account, uint64_t cpu_ns);
/* The thread has ended. */
void preload_pool_end(struct preload_pool *pool, struct preload_account *account);

/* ---- how much of the stack ---- */

/* The known part of a stack need not be copied again, except for occasional checks. */

/* A thread's data; zero at its start. */
struct preload_want {
	bool was_whole; /* a whole stack was requested */
	/* Since then: samples, and the largest copy of the stack. */
	uint32_t samples;
	size_t largest_bytes;
	bool has_marks;	    /* the next sample is taken with marks */
	uint64_t sample_ns; /* the time of the last sample that was walked */
	struct marks_trust trust;
};

/* A sample of the thread was walked, giving this history. */
struct preload_walked {
	uint64_t time_ns;
	const struct unwind_history *history;
	size_t stack_bytes; /* of stack in the sample */
	bool was_short;	    /* the walk needed more */
};
void preload_want_next(struct preload_want *want, struct preload_memory *memory, uint32_t slot,
	const struct preload_walked *walked);
/* The same after a stack that was read from outside. */
void preload_want_other(struct preload_want *want, struct preload_memory *memory, uint32_t slot,
	const struct unwind_history *history, size_t stack_bytes);

#endif
