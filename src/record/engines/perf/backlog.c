/*
 * Queues of blocks.  A writer publishes bytes by storing the block's fill level with release order,
 * and never touches a block again once it has linked the next one, so the reader needs no lock to
 * read.
 */
#include "record/engines/perf/backlog.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/alloc.h"

struct backlog_block {
	struct backlog_block *next; /* NULL: this is the last one */
	size_t filled_bytes;
	_Alignas(8) uint8_t bytes[BACKLOG_BLOCK_BYTES];
};

/* The holder of the lock inherits the priority of whoever waits for it. */
static void init_lock(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	(void)pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	if (pthread_mutex_init(lock, &attr) != 0)
		pthread_mutex_init(lock, NULL);
	pthread_mutexattr_destroy(&attr);
}

void backlog_init(struct backlog *b, size_t bytes_most)
{
	size_t most = bytes_most / BACKLOG_BLOCK_BYTES;

	*b = (struct backlog){.most = {[BACKLOG_SPARE] = most / 2,
				      [BACKLOG_USUAL] = most - most / 8,
				      [BACKLOG_VITAL] = most}};
	init_lock(&b->lock);
}

void backlog_deinit(struct backlog *b)
{
	while (b->spare) {
		struct backlog_block *block = b->spare;

		b->spare = block->next;
		free(block);
	}
	pthread_mutex_destroy(&b->lock);
}

void backlog_lock(struct backlog *b)
{
	pthread_mutex_lock(&b->lock);
}

void backlog_unlock(struct backlog *b)
{
	pthread_mutex_unlock(&b->lock);
}

/* A queue without a block gets one in any case: each ring must move on. */
static bool may_grow(const struct backlog *b, const struct backlog_queue *q, enum backlog_rank rank)
{
	return !q->last || b->used < b->most[rank];
}

static void count(struct backlog *b, size_t used)
{
	__atomic_store_n(&b->used, used, __ATOMIC_RELAXED);
}

static struct backlog_block *new_block(struct backlog *b)
{
	struct backlog_block *block = b->spare;

	if (!block)
		return xalloc(sizeof(*block));
	b->spare = block->next;
	block->next = NULL;
	block->filled_bytes = 0;
	return block;
}

static void free_block(struct backlog *b, struct backlog_block *block)
{
	if (block->next)
		count(b, b->used - 1);
	block->next = b->spare;
	b->spare = block;
}

void *backlog_room(struct backlog *b, struct backlog_queue *q, size_t size, enum backlog_rank rank)
{
	assert(size <= BACKLOG_BLOCK_BYTES && size % 8 == 0);
	if (q->last && q->last->filled_bytes + size <= BACKLOG_BLOCK_BYTES)
		return q->last->bytes + q->last->filled_bytes;
	if (!may_grow(b, q, rank))
		return NULL;
	struct backlog_block *block = new_block(b);

	if (q->last) {
		count(b, b->used + 1);
		__atomic_store_n(&q->last->next, block, __ATOMIC_RELEASE);
	} else {
		__atomic_store_n(&q->first, block, __ATOMIC_RELEASE);
	}
	q->last = block;
	return block->bytes;
}

void backlog_put(struct backlog_queue *q, size_t size)
{
	size_t filled_bytes = q->last->filled_bytes + size;

	__atomic_store_n(&q->last->filled_bytes, filled_bytes, __ATOMIC_RELEASE);
}

/* The reader has read all of its block: on to the next one. False: there is none. */
static bool leave_block(struct backlog *b, struct backlog_queue *q, struct backlog_block *block)
{
	struct backlog_block *next;

	backlog_lock(b);
	next = block->next;
	/* A writer may have filled it meanwhile. */
	if (q->taken_bytes == block->filled_bytes) {
		__atomic_store_n(&q->first, next, __ATOMIC_RELAXED);
		if (!next)
			q->last = NULL;
		q->taken_bytes = 0;
		free_block(b, block);
	}
	backlog_unlock(b);
	return __atomic_load_n(&q->first, __ATOMIC_RELAXED) != NULL;
}

const void *backlog_next(struct backlog *b, struct backlog_queue *q)
{
	struct backlog_block *block;

	while ((block = __atomic_load_n(&q->first, __ATOMIC_ACQUIRE))) {
		if (q->taken_bytes < __atomic_load_n(&block->filled_bytes, __ATOMIC_ACQUIRE))
			return block->bytes + q->taken_bytes;
		if (!leave_block(b, q, block))
			return NULL;
	}
	return NULL;
}

void backlog_take(struct backlog_queue *q, size_t size)
{
	q->taken_bytes += size;
}

void backlog_clear(struct backlog *b, struct backlog_queue *q)
{
	while (q->first) {
		struct backlog_block *block = q->first;

		q->first = block->next;
		free_block(b, block);
	}
	*q = (struct backlog_queue){0};
}

double backlog_level(const struct backlog *b)
{
	return (double)__atomic_load_n(&b->used, __ATOMIC_RELAXED) / (double)b->most[BACKLOG_VITAL];
}
