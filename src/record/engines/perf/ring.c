/*
 * Ring buffers of perf events, and their merge by time.
 *
 * Why a horizon makes the merge exact: the caller reads the clock, then ring_merge_look reads the
 * heads and moves all before them, and only records up to that clock are handed out.  Whatever a
 * sample depends on (the mmap of the code that it is in, the fork of its thread) was written by a
 * call that had ended before the sample was taken, so it is in its ring before the clock that we
 * read, and its time is older.
 *
 * The protocol with the kernel is that of perf_event_open(2): data_head is read with acquire,
 * data_tail written with release.
 */
#include "record/engines/perf/ring.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "record/events/perf_record.h"

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

/* The bytes at the tail, put together where they wrap; size is at most RECORD_SIZE_MAX. */
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

/* Also makes sure that who finds the tail at the head finds the records in the backlog. */
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
	/* It is older than what other rings have, so it must be waited for; now there is room. */
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
