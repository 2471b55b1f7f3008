/*
 * The two kinds of rings: ticks of the whole program, events of each slot.
 *
 * Writers never wait for a reader.  It copies first, then checks whether the copy may have been
 * overwritten; if so, it continues at the ring's new beginning, and reports how much it missed.
 */

#include <stdlib.h>
#include <string.h>

#include "zonereport/region_words.h"

static uint64_t live_tail(const struct zonewire_header *live)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&live->ring_tail, __ATOMIC_ACQUIRE);
}

/* Copies the bytes of the record at that position; false: out of memory. */
static bool copy_record(
	struct zone_reader *r, const struct zone_region *region, uint64_t offset, uint32_t bytes)
{
	if (bytes > r->record_bytes) {
		uint8_t *grown = realloc(r->record, bytes);

		if (!grown)
			return false;
		r->record = grown;
		r->record_bytes = bytes;
	}
	region_copy(r->record, region->data + region->header.ring_offset + offset, bytes);
	return true;
}

/* Checks the copied record, and removes deltas of invalid nodes. */
static bool check_record(struct zone_reader *r, const struct zone_region *region, uint32_t bytes,
	struct zone_tick *tick)
{
	struct zonewire_delta *delta = (void *)(r->record + sizeof(tick->head));
	uint32_t kept = 0;

	memcpy(&tick->head, r->record, sizeof(tick->head));
	if (tick->head.bytes != bytes || tick->head.stream >= ZONEWIRE_STREAMS ||
		tick->head.end_ticks < tick->head.start_ticks ||
		tick->head.delta_count >
			(bytes - sizeof(tick->head)) / sizeof(struct zonewire_delta))
		return false;
	for (uint32_t i = 0; i < tick->head.delta_count; i++)
		if (delta[i].node > 0 && delta[i].node < region->header.nodes.capacity)
			delta[kept++] = delta[i];
	tick->head.delta_count = kept;
	tick->delta = delta;
	return true;
}

/* The size of the record at `position`, and whether it is a pad; 0: invalid. */
static uint32_t record_bytes(
	const struct zone_region *region, uint64_t position, uint64_t head, bool *is_pad)
{
	uint64_t ring = region->header.ring_bytes, offset = position % ring;
	uint64_t first =
		region_word((const void *)(region->data + region->header.ring_offset + offset));
	uint32_t bytes, stream;

	memcpy(&bytes, &first, sizeof(bytes));
	memcpy(&stream, (const char *)&first + sizeof(bytes), sizeof(stream));
	*is_pad = stream == ZONEWIRE_TICK_PAD;
	if (bytes % 8 != 0 || bytes > ring - offset || bytes > head - position ||
		bytes < (*is_pad ? 8 : sizeof(struct zonewire_tick)))
		return 0;
	return bytes;
}

bool zone_reader_next_tick(struct zone_reader *reader, const struct zone_region *region,
	uint64_t *position, struct zone_tick *tick, uint64_t *lost)
{
	const struct zonewire_header *live = (const void *)region->data;

	*lost = 0;
	while (region->header.ring_bytes > 0) {
		uint64_t head = __atomic_load_n(&live->ring_head, __ATOMIC_ACQUIRE);
		uint64_t tail = live_tail(live), at = *position;
		uint32_t bytes;
		bool is_pad, is_good;

		if (at < tail) {
			*lost += tail - at;
			at = tail;
		}
		*position = at;
		if (at >= head || at % 8 != 0)
			return false;
		bytes = record_bytes(region, at, head, &is_pad);
		if (bytes > 0 && !is_pad &&
			!copy_record(reader, region, at % region->header.ring_bytes, bytes))
			return false;
		if (live_tail(live) > at)
			continue; /* overwritten while being read */
		is_good = bytes > 0 && (is_pad || check_record(reader, region, bytes, tick));
		*position = is_good ? at + bytes : head;
		if (!is_good)
			*lost += head - at;
		else if (!is_pad)
			return true;
	}
	return false;
}

/* The slot's ring, if it lies within the memory; false: none. */
static bool event_ring(const struct zone_region *region, uint32_t slot, struct zonewire_slot *copy,
	const uint64_t **ring)
{
	uint64_t size = region->header.region_bytes, count;

	if (!zone_region_slot(region, slot, copy))
		return false;
	count = copy->event_count;
	if (copy->events_offset == 0 || copy->events_offset % 8 != 0 ||
		copy->events_offset > size || count == 0 || (count & (count - 1)) != 0 ||
		count > (size - copy->events_offset) / 8)
		return false;
	*ring = (const void *)(region->data + copy->events_offset);
	return true;
}

/*
 * The number of events that may be written but not included in the head yet: on x86 one.
 * Processors that reorder stores may have as many as are in flight.
 */
#if defined(__x86_64__)
enum { EVENTS_UNDER_WAY = 1 };
#else
enum { EVENTS_UNDER_WAY = 64 };
#endif

/* The first event that cannot have been overwritten by then. */
static uint64_t oldest_event(uint64_t head, uint64_t event_count)
{
	uint64_t kept = event_count > EVENTS_UNDER_WAY ? event_count - EVENTS_UNDER_WAY : 0;

	return head > kept ? head - kept : 0;
}

/* Copies the events from *position to head into events[]; skips those that may be overwritten. */
static size_t copy_events(const struct zonewire_slot *slot, const uint64_t *ring,
	const uint64_t *live_head, uint64_t *position, struct zone_event *events, size_t capacity)
{
	uint64_t head = slot->event_head, at = *position, oldest;
	size_t count = 0, gone;

	for (; at < head && count < capacity; at++)
		events[count++].ticks = region_word(&ring[at & (slot->event_count - 1)]);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	head = __atomic_load_n(live_head, __ATOMIC_ACQUIRE);
	oldest = oldest_event(head, slot->event_count);
	gone = oldest > *position ? (size_t)(oldest - *position) : 0;
	if (gone > count)
		gone = count;
	memmove(events, events + gone, (count - gone) * sizeof(*events));
	*position = at;
	return count - gone;
}

size_t zone_region_events(const struct zone_region *region, uint32_t slot, uint64_t *position,
	uint64_t about, struct zone_event *events, size_t capacity, uint64_t *lost)
{
	struct zonewire_slot copy;
	const struct zonewire_slot *live;
	const uint64_t *ring;
	uint64_t from = *position, oldest;
	size_t count;

	*lost = 0;
	if (!event_ring(region, slot, &copy, &ring))
		return 0;
	live = region_row(region, &region->header.slots, slot);
	copy.event_head = __atomic_load_n(&live->event_head, __ATOMIC_ACQUIRE);
	oldest = oldest_event(copy.event_head, copy.event_count);
	if (*position < oldest)
		*position = oldest;
	count = copy_events(&copy, ring, &live->event_head, position, events, capacity);
	*lost = *position - from - count;
	/* Events may have come after the caller read the clock: allow for minutes. */
	about += UINT64_C(1) << 40;
	for (size_t i = count; i-- > 0;) {
		uint64_t event = events[i].ticks;

		about = zonewire_event_ticks(event, about);
		events[i] = (struct zone_event){about, zonewire_event_node(event)};
	}
	return count;
}
