/*
 * The pool pays one interval to a first sample, and more if it has grown far beyond that: then more
 * time was not sampled than the clock can have missed by chance.
 *
 * Marks tell the thread's handler (preload/marks.c) which parts of its stack are known.  A reused
 * stack is verified by a copy of the whole stack, which takes a thread with a deep stack long: 20
 * us for 5,000 levels of a recursion.  So its checks wait until they cost less than CHECK_BYTES for
 * each sample on average.
 */
#include "record/engines/preload/preload_thread.h"

/* ---- weights ---- */

/* A pool of more intervals than this pays this fraction of itself to a first sample. */
#define POOL_PART 16
/*
 * Intervals before a first sample that no clock can have missed by chance: the thread blocked the
 * signal.
 */
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

/* ---- how much of the stack ---- */

/* Stacks no deeper than this are always copied whole. */
#define SHALLOW_BYTES ((size_t)16 << 10)
#define CHECK_BYTES   ((size_t)2048)

static bool wants_whole(struct preload_want *want, const struct unwind_history *history)
{
	if (!unwind_history_check_due(history) ||
		(want->was_whole && want->samples < want->largest_bytes / CHECK_BYTES))
		return false;
	want->was_whole = true;
	want->samples = 0;
	want->largest_bytes = 0;
	return true;
}

static void want_whole(struct preload_want *want, struct preload_memory *memory, uint32_t slot)
{
	want->has_marks = false;
	preload_memory_mark(memory, slot, &(struct preload_known){0});
}

static void mark(struct preload_want *want, struct preload_memory *memory, uint32_t slot,
	const struct unwind_history *history)
{
	struct exact_mark marks[EXACT_MARKS];
	uint32_t count = exact_marks_choose(history, marks);

	_Static_assert(sizeof(struct exact_mark) == sizeof(struct preload_mark) &&
			       EXACT_MARKS == PRELOAD_MARKS,
		"marks are the same for all");
	want->has_marks = true;
	preload_memory_mark(memory, slot,
		&(struct preload_known){
			(const struct preload_mark *)(const void *)marks, count, want->sample_ns});
}

/* Marks for an earlier sample would come too late: they wait until the last one was walked. */
static bool is_last(
	const struct preload_want *want, const struct preload_memory *memory, uint32_t slot)
{
	return preload_memory_last_ns(memory, slot) == want->sample_ns;
}

void preload_want_next(struct preload_want *want, struct preload_memory *memory, uint32_t slot,
	const struct preload_walked *walked)
{
	bool was_misled = want->has_marks && walked->was_short;

	want->samples++;
	want->sample_ns = walked->time_ns;
	if (walked->stack_bytes > want->largest_bytes)
		want->largest_bytes = walked->stack_bytes;
	if (was_misled)
		marks_trust_lose(&want->trust);
	else if (walked->stack_bytes < SHALLOW_BYTES)
		return;
	if (!marks_trust_ask(&want->trust))
		want_whole(want, memory, slot);
	else if (!is_last(want, memory, slot))
		return;
	else if (wants_whole(want, walked->history))
		want_whole(want, memory, slot);
	else
		mark(want, memory, slot, walked->history);
}

void preload_want_other(struct preload_want *want, struct preload_memory *memory, uint32_t slot,
	const struct unwind_history *history, size_t stack_bytes)
{
	if (stack_bytes < SHALLOW_BYTES || unwind_history_check_due(history) ||
		!is_last(want, memory, slot))
		want_whole(want, memory, slot);
	else
		mark(want, memory, slot, history);
}
