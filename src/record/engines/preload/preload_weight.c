/*
 * Weights of samples.  The pool pays one interval to a first sample, and more if it has grown far
 * beyond: then more time went by unsampled than the clock can have missed by chance.
 */
#include "record/engines/preload/preload_weight.h"

/* A first sample is paid this part of a pool that holds more intervals than this. */
#define POOL_PART 16
/* Time before a first sample that no clock can have missed by chance: the thread hid itself. */
#define FIRST_MAX 4

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void preload_pool_use(struct preload_pool *pool, struct preload_account *account, uint64_t cpu_ns)
{
	if (cpu_ns <= account->used_ns)
		return;
	pool->total_ns += cpu_ns - account->used_ns;
	account->used_ns = cpu_ns;
}

static uint64_t pay(struct preload_pool *pool)
{
	uint64_t part = pool->owed_ns / POOL_PART;
	uint64_t paid = part > pool->interval_ns ? part : least(pool->owed_ns, pool->interval_ns);

	pool->owed_ns -= paid;
	return paid;
}

uint64_t preload_pool_sample(
	struct preload_pool *pool, struct preload_account *account, uint64_t cpu_ns)
{
	preload_pool_use(pool, account, cpu_ns);
	uint64_t unweighed_ns = account->used_ns - account->weighed_ns;
	bool is_first = !account->was_sampled;

	account->weighed_ns = account->used_ns;
	account->was_sampled = true;
	if (!is_first || unweighed_ns > FIRST_MAX * pool->interval_ns)
		return unweighed_ns;
	pool->owed_ns += unweighed_ns;
	return pay(pool);
}

void preload_pool_end(struct preload_pool *pool, struct preload_account *account)
{
	pool->owed_ns += account->used_ns - account->weighed_ns;
	account->weighed_ns = account->used_ns;
}
