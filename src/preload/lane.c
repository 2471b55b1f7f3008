/*
 * Writes records.  As long as the recorder keeps up, every record goes to the beginning of the
 * data, so that only that part needs memory and cache.  Otherwise records follow one another, and
 * wrap around into space that the recorder has emptied.
 *
 * Memory for the data is populated with madvise before it is written, because a page that the
 * system cannot provide would otherwise kill the program.
 */
#include "preload/lane.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "preload/raw.h"

#define ALIGN	   8u
#define PAGE_BYTES UINT64_C(4096)
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

static struct preload_slot *slot_of(uint8_t *base, uint32_t number)
{
	return (struct preload_slot *)(void *)(base + PRELOAD_SLOTS_OFF) + number;
}

static void note_used(struct preload_header *header, uint32_t used)
{
	uint32_t known = atomic_load(&header->slots_used);

	while (known < used && !atomic_compare_exchange_weak(&header->slots_used, &known, used))
		continue;
}

bool preload_lane_take(struct preload_lane *lane, uint8_t *base, uint32_t slot_count, uint32_t tid)
{
	struct preload_header *header = (struct preload_header *)(void *)base;

	for (uint32_t i = 0; i < slot_count; i++) {
		struct preload_slot *slot = slot_of(base, i);
		uint32_t free_owner = 0;

		if (atomic_load_explicit(&slot->owner, memory_order_relaxed) != 0 ||
			!atomic_compare_exchange_strong(&slot->owner, &free_owner, tid))
			continue;
		memset(lane, 0, sizeof(*lane));
		lane->header = header;
		lane->slot = slot;
		lane->data = base + PRELOAD_DATA_OFF + i * PRELOAD_DATA_BYTES;
		lane->data_bytes = PRELOAD_DATA_BYTES;
		lane->number = i;
		lane->head = atomic_load(&slot->tail);
		atomic_store(&slot->head, lane->head);
		note_used(header, i + 1);
		return true;
	}
	atomic_fetch_add(&header->refused, 1);
	return false;
}

void preload_lane_refuse(struct preload_lane *lane)
{
	atomic_store(&lane->slot->owner, 0);
	atomic_fetch_add(&lane->header->refused, 1);
}

static struct preload_place *place_of(const struct preload_lane *lane, uint32_t record)
{
	return (struct preload_place *)(void *)(lane->data + PRELOAD_PLACES_OFF) +
	       record % PRELOAD_RECORDS;
}

/* The program may have written over the places. */
static bool is_sane(const struct preload_lane *lane, uint32_t offset)
{
	return offset >= PRELOAD_RECORDS_OFF && offset < lane->data_bytes;
}

/* Finds unused space [*begin, *end) in the data. */
static bool find_room(const struct preload_lane *lane, size_t least, uint64_t *begin, uint64_t *end)
{
	uint32_t tail = atomic_load_explicit(&lane->slot->tail, memory_order_acquire);
	uint32_t waiting = lane->head - tail;

	if (waiting >= PRELOAD_RECORDS)
		return false;
	*begin = PRELOAD_RECORDS_OFF;
	*end = lane->data_bytes;
	if (waiting == 0)
		return true;
	uint32_t first = ((volatile struct preload_place *)place_of(lane, tail))->offset;
	const struct preload_place *last = &lane->last;
	uint64_t after = (last->offset + (uint64_t)last->size + ALIGN - 1) / ALIGN * ALIGN;

	if (!is_sane(lane, first))
		return false;
	if (first <= last->offset && after + least <= lane->data_bytes) {
		*begin = after;
	} else {
		*begin = first <= last->offset ? PRELOAD_RECORDS_OFF : after;
		*end = first;
	}
	return *begin + least <= *end;
}

/* Whether the data has memory up to `end`; allocates it if necessary. */
static bool back(struct preload_lane *lane, uint64_t end)
{
	if (end <= lane->backed_bytes)
		return true;
	end = (end + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	long failed = raw3(SYS_madvise, lane->data + lane->backed_bytes, end - lane->backed_bytes,
		MADV_POPULATE_WRITE);

	/* Linux before 5.14 does not support it: then the write itself must allocate. */
	if (failed != 0 && failed != -EINVAL)
		return false;
	lane->backed_bytes = end;
	return true;
}

uint8_t *preload_lane_begin(struct preload_lane *lane, size_t least, size_t most, size_t *room)
{
	uint64_t begin, end;

	if (!find_room(lane, least, &begin, &end))
		return NULL;
	if (end - begin > most)
		end = begin + most;
	if (!back(lane, end))
		return NULL;
	lane->begin = (uint32_t)begin;
	*room = end - begin;
	return lane->data + begin;
}

void preload_lane_end(struct preload_lane *lane, size_t size)
{
	lane->last = (struct preload_place){lane->begin, (uint32_t)size};
	*place_of(lane, lane->head) = lane->last;
	atomic_store_explicit(&lane->slot->head, ++lane->head, memory_order_release);
	atomic_fetch_or(
		&lane->header->fresh[lane->number / 64], UINT64_C(1) << (lane->number % 64));
}

void preload_lane_lose(struct preload_lane *lane)
{
	uint32_t lost = atomic_load_explicit(&lane->slot->lost, memory_order_relaxed);

	atomic_store_explicit(&lane->slot->lost, lost + 1, memory_order_relaxed);
}
