#ifndef SONDE_RECORD_ENGINES_PRELOAD_PRELOAD_WEIGHT_H
#define SONDE_RECORD_ENGINES_PRELOAD_PRELOAD_WEIGHT_H

/*
 * What a sample of the preloaded library weighs: the CPU time that its thread has used since its
 * last one, so that weights add up to the CPU time.
 *
 * A thread that ends takes what it used since its last sample with it, and of threads shorter than
 * the interval most end without any.  Samples find such threads in proportion to their time, so
 * that what all of them used is shared out among their first samples, one interval to each: what
 * threads use before their first sample and after their last goes to a pool, from which first
 * samples are paid.
 */

#include <stdbool.h>
#include <stdint.h>

struct preload_pool {
	uint64_t interval_ns;
	uint64_t owed_ns;  /* used, and in no sample yet */
	uint64_t total_ns; /* used, by all threads */
};

/* Of a thread; zero at its start. */
struct preload_account {
	uint64_t used_ns, weighed_ns;
	bool was_sampled;
};

/* The thread had used cpu_ns when it was sampled: the sample's weight. */
uint64_t preload_pool_sample(
	struct preload_pool *pool, struct preload_account *account, uint64_t cpu_ns);
/* It has used cpu_ns by now. */
void preload_pool_use(struct preload_pool *pool, struct preload_account *account, uint64_t cpu_ns);
/* It has ended. */
void preload_pool_end(struct preload_pool *pool, struct preload_account *account);

#endif
