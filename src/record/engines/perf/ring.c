/*
 * Ring buffers of perf events, their backlog, and their merge by time.
 *
 * The backlog is made of queues of blocks.  A writer publishes bytes by storing the block's fill
 * level with release order, and never touches a block again once it has linked the next one, so the
 * reader needs no lock to read.
 *
 * Why a horizon makes the merge exact: the caller reads the clock, then ring_merge_look reads the
 * heads and moves all records before them, and only records up to that time are returned.  A record
 * that a sample depends on (the mmap of its code, the fork of its thread) was written by a call
 * that had ended before the sample was taken.  So it was in its ring before we read the clock, and
 * its time is earlier.
 *
 * The protocol with the kernel is that of perf_event_open(2): data_head is read with acquire,
 * data_tail written with release.
 */
#include "record/engines/perf/ring.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "record/events/perf_record.h"

/* ---- the backlog ---- */

struct backlog_block {
	struct backlog_block *next; /* NULL: this is the last one */
	size_t filled_bytes;
	_Alignas(8) uint8_t bytes[BACKLOG_BLOCK_BYTES];
};

/* The holder of the lock inherits the priority of the threads that wait for it. */
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

/* A queue without a block always gets one: each ring must make progress. */
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

/* The reader has read its whole block and moves to the next one.  False: there is none. */
static bool leave_block(struct backlog *b, struct backlog_queue *q, struct backlog_block *block)
{
	struct backlog_block *next;

	backlog_lock(b);
	next = block->next;
	/* A writer may have filled it in the meantime. */
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

/* ---- rings ---- */

/* A record's size has 16 bits. */
#define RECORD_SIZE_MAX ((size_t)1 << 16)

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

int ring_map(struct ring *r, struct backlog *backlog, int fd, size_t size_bytes)
{
	size_t page = page_size();
	void *map = mmap(NULL, page + size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		return errno;
	ring_attach(r, backlog, map, (const uint8_t *)map + page, size_bytes);
	return 0;
}

void ring_attach(struct ring *r, struct backlog *backlog, struct perf_event_mmap_page *page,
	const void *data, size_t size)
{
	*r = (struct ring){.page = page,
		.data = data,
		.size_bytes = size,
		.backlog = backlog,
		.rank = BACKLOG_USUAL};
	r->tail = page->data_tail;
}

void ring_unmap(struct ring *r)
{
	if (r->page && r->data == (const uint8_t *)r->page + page_size())
		munmap(r->page, page_size() + r->size_bytes);
	if (r->page)
		backlog_clear(r->backlog, &r->queue);
	free(r->joined);
	*r = (struct ring){0};
}

/* ---- moving, under the lock ---- */

/* The bytes at the tail, joined if they wrap; size is at most RECORD_SIZE_MAX. */
static const void *ring_bytes(struct ring *r, size_t size)
{
	size_t at = r->tail & (r->size_bytes - 1);
	size_t first = r->size_bytes - at;

	if (size <= first)
		return r->data + at;
	if (!r->joined)
		r->joined = xalloc(RECORD_SIZE_MAX);
	memcpy(r->joined, r->data + at, first);
	memcpy(r->joined + first, r->data, size - first);
	return r->joined;
}

/* The record at the tail; NULL: none before head. */
static const struct perf_event_header *tail_record(struct ring *r, uint64_t head)
{
	uint64_t left = head - r->tail;
	const struct perf_event_header *header;

	if (left < sizeof(*header))
		return NULL;
	/* Records are multiples of 8 bytes, so a header never wraps. */
	header = (const void *)(r->data + (r->tail & (r->size_bytes - 1)));
	if (header->size < sizeof(*header) || header->size > left || header->size % 8)
		return NULL;
	return ring_bytes(r, header->size);
}

/* False: the backlog has no room for it. */
static bool move_record(struct ring *r, const struct perf_event_header *header)
{
	struct perf_record_spare spare = {0};

	if (r->has_stacks && header->type == PERF_RECORD_SAMPLE)
		spare = perf_record_spare(header, r->has_chain);
	size_t size = header->size - spare.size;
	void *room = backlog_room(r->backlog, &r->queue, size, r->rank);

	if (!room)
		return false;
	perf_record_copy(room, header, spare);
	backlog_put(&r->queue, size);
	return true;
}

/*
 * With release order: a thread that finds the tail at the head also finds the records in the
 * backlog.
 */
static void set_tail(struct ring *r, uint64_t tail)
{
	__atomic_store_n(&r->tail, tail, __ATOMIC_RELEASE);
	__atomic_store_n(&r->page->data_tail, tail, __ATOMIC_RELEASE);
}

static bool move_to(struct ring *r, uint64_t head)
{
	const struct perf_event_header *header;

	while ((header = tail_record(r, head))) {
		size_t size = header->size;

		if (!move_record(r, header))
			return false;
		set_tail(r, r->tail + size);
	}
	return true;
}

bool ring_move(struct ring *r)
{
	uint64_t head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
	bool is_all;

	if (head == __atomic_load_n(&r->tail, __ATOMIC_ACQUIRE))
		return true;
	backlog_lock(r->backlog);
	is_all = move_to(r, head);
	backlog_unlock(r->backlog);
	return is_all;
}

/* ---- the reader ---- */

void ring_look(struct ring *r)
{
	r->is_behind = !ring_move(r);
}

const struct perf_event_header *ring_record(struct ring *r)
{
	const struct perf_event_header *header = backlog_next(r->backlog, &r->queue);

	if (header || !r->is_behind)
		return header;
	/* It is older than the records of other rings, so it must come first; now there is room. */
	ring_look(r);
	return backlog_next(r->backlog, &r->queue);
}

void ring_release(struct ring *r)
{
	const struct perf_event_header *header = backlog_next(r->backlog, &r->queue);

	backlog_take(&r->queue, header->size);
}

/* ---- the merge ---- */

void ring_merge_add(struct ring_merge *merge, struct ring *ring)
{
	vec_push(&merge->lanes, (struct ring_lane){.ring = ring});
}

void ring_merge_deinit(struct ring_merge *merge)
{
	vec_deinit(&merge->lanes);
	merge->current = NULL;
}

static void lane_peek(struct ring_lane *lane)
{
	lane->record = ring_record(lane->ring);
	lane->time_ns = lane->record ? perf_record_time_ns(lane->record) : UINT64_MAX;
}

static void merge_release_current(struct ring_merge *merge)
{
	if (!merge->current)
		return;
	ring_release(merge->current->ring);
	lane_peek(merge->current);
	merge->current = NULL;
}

void ring_merge_look(struct ring_merge *merge)
{
	merge_release_current(merge);
	for (size_t i = 0; i < merge->lanes.count; i++) {
		ring_look(merge->lanes.data[i].ring);
		lane_peek(&merge->lanes.data[i]);
	}
}

const struct perf_event_header *ring_merge_next(struct ring_merge *merge, uint64_t horizon_ns)
{
	struct ring_lane *oldest = NULL;

	merge_release_current(merge);
	for (size_t i = 0; i < merge->lanes.count; i++) {
		struct ring_lane *lane = &merge->lanes.data[i];

		if (lane->record && (!oldest || lane->time_ns < oldest->time_ns))
			oldest = lane;
	}
	if (!oldest || oldest->time_ns > horizon_ns)
		return NULL;
	merge->current = oldest;
	return oldest->record;
}
