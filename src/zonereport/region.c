/*
 * Opens zones memory and reads its header, clock and small tables.
 *
 * The writer may be another program, which continues during the reading, and may be faulty or
 * hostile.  So positions and sizes are copied once and checked, and rows are copied before use.
 * Everything is read in whole words, so that reading one's own memory while other threads write to
 * it is defined.
 */

#include "zonereport/region.h"

#include <string.h>

#include "zonereport/clock.h"
#include "zonereport/region_words.h"

/* Whether a table lies within the memory, with rows of at least that size. */
static bool table_is_good(const struct zonewire_table *table, uint64_t row_bytes, uint64_t size)
{
	uint64_t bytes = (uint64_t)table->row_bytes * table->capacity;

	return table->row_bytes >= row_bytes && table->row_bytes % 8 == 0 &&
	       table->offset % 8 == 0 && table->offset <= size && bytes <= size - table->offset;
}

static bool place_is_good(uint64_t offset, uint64_t bytes, uint64_t size)
{
	return offset % 8 == 0 && offset <= size && bytes <= size - offset;
}

static const char *check_places(const struct zonewire_header *h)
{
	uint64_t size = h->region_bytes;

	if (!table_is_good(&h->slots, sizeof(struct zonewire_slot), size) ||
		!table_is_good(&h->zones, sizeof(struct zonewire_zone), size) ||
		!table_is_good(&h->notes, sizeof(struct zonewire_note), size) ||
		!table_is_good(&h->nodes, sizeof(struct zonewire_node), size) ||
		h->nodes.capacity > UINT32_C(1) << ZONEWIRE_EVENT_NODE_BITS)
		return "has a table outside of itself";
	if (!place_is_good(h->strings_offset, h->strings_bytes, size) ||
		!place_is_good(h->ring_offset, h->ring_bytes, size) || h->ring_bytes % 8 != 0)
		return "has strings or frames outside of itself";
	return NULL;
}

const char *zone_region_open(struct zone_region *region, const void *data, size_t size)
{
	struct zonewire_header *h = &region->header;
	const char *trouble;

	*region = (struct zone_region){.data = data, .size = size};
	if (size < ZONEWIRE_HEADER_BYTES)
		return "is too short to be zones memory";
	region_copy(h, data, sizeof(*h));
	if (h->magic != ZONEWIRE_MAGIC)
		return "is not a zones memory file";
	if (h->version != ZONEWIRE_VERSION)
		return "is zones memory of an unknown version";
	/* Later fields read as zeros. */
	if (h->header_bytes < offsetof(struct zonewire_header, exit_ticks) ||
		h->region_bytes > size)
		return "is truncated zones memory";
	if (h->clock_shift > 63 || h->clock_mult == 0 || h->clock > ZONEWIRE_CLOCK_CALLED)
		return "is zones memory without a clock";
	trouble = check_places(h);
	h->program[sizeof(h->program) - 1] = '\0';
	return trouble;
}

uint64_t zone_region_now(const struct zone_region *region)
{
	const struct zonewire_header *live = (const void *)region->data;
	uint64_t now;

	if (region_word32(&live->is_saved) || region->header.clock == ZONEWIRE_CLOCK_CALLED)
		now = region_word(&live->now_ticks);
	else
		now = zone_clock_now((enum zonewire_clock)region->header.clock);
	return region->ended_ticks && now > region->ended_ticks ? region->ended_ticks : now;
}

bool zone_region_end_is_proven(const struct zone_region *region)
{
	const struct zonewire_header *live = (const void *)region->data;

	return region_word32(&live->is_saved) == ZONEWIRE_SAVED_AFTER;
}

bool zone_region_tells_end(const struct zone_region *region)
{
	struct zonewire_header header = zone_region_header(region);

	return header.is_saved == ZONEWIRE_SAVED || header.exit_ticks;
}

/* The writer refines its clock over time, by changing only clock_mult. */
uint64_t zone_region_duration_ns(const struct zone_region *region, uint64_t ticks)
{
	const struct zonewire_header *live = (const void *)region->data;
	__extension__ typedef unsigned __int128 wide;
	wide ns = (wide)ticks * region_word(&live->clock_mult) >> region->header.clock_shift;

	return ns > INT64_MAX ? INT64_MAX : (uint64_t)ns;
}

int64_t zone_region_ns(const struct zone_region *region, uint64_t ticks)
{
	uint64_t start = region->header.start_ticks;

	if (ticks < start)
		return -(int64_t)zone_region_duration_ns(region, start - ticks);
	return (int64_t)zone_region_duration_ns(region, ticks - start);
}

/* ---- rows ---- */

uint32_t region_row_count(
	const struct zone_region *region, const struct zonewire_table *table, const void *live)
{
	const struct zonewire_table *changing = live;
	uint32_t count = __atomic_load_n(&changing->count, __ATOMIC_ACQUIRE);

	(void)region;
	return count < table->capacity ? count : table->capacity;
}

static bool copy_row(const struct zone_region *region, const struct zonewire_table *table,
	uint32_t count, uint32_t index, void *row, size_t row_bytes)
{
	if (index >= count) {
		memset(row, 0, row_bytes);
		return false;
	}
	region_copy(row, region_row(region, table, index), row_bytes);
	return true;
}

static const struct zonewire_header *live_header(const struct zone_region *region)
{
	return (const void *)region->data;
}

uint32_t zone_region_zone_count(const struct zone_region *region)
{
	return region_row_count(region, &region->header.zones, &live_header(region)->zones);
}

uint32_t zone_region_program_zones(const struct zone_region *region)
{
	uint32_t count = zone_region_zone_count(region), own = ZONEWIRE_ZONE_UPDATE + 1;

	return count > own ? count - own : 0;
}

bool zone_region_zone(const struct zone_region *region, uint32_t id, struct zonewire_zone *zone)
{
	return copy_row(region, &region->header.zones, zone_region_zone_count(region), id, zone,
		sizeof(*zone));
}

uint32_t zone_region_slot_count(const struct zone_region *region)
{
	return region_row_count(region, &region->header.slots, &live_header(region)->slots);
}

bool zone_region_slot(const struct zone_region *region, uint32_t index, struct zonewire_slot *slot)
{
	const struct zonewire_table *slots = &region->header.slots;
	uint32_t count = zone_region_slot_count(region);

	/* Changes are few and fast: after this many tries, use the row as it is. */
	for (int tries = 0; tries < 100; tries++) {
		uint32_t before;

		if (index >= count)
			break;
		before = __atomic_load_n(
			&((const struct zonewire_slot *)region_row(region, slots, index))
				 ->generation,
			__ATOMIC_ACQUIRE);
		copy_row(region, slots, count, index, slot, sizeof(*slot));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (before % 2 == 0 && slot->generation == before)
			break;
	}
	if (index >= count)
		return copy_row(region, slots, count, index, slot, sizeof(*slot));
	slot->name[sizeof(slot->name) - 1] = '\0';
	return true;
}

bool zone_region_note(const struct zone_region *region, uint32_t row, struct zonewire_note *note)
{
	const struct zonewire_header *live = live_header(region);
	uint32_t count = region_row_count(region, &region->header.notes, &live->notes);
	const struct zonewire_note *changing;

	if (row >= count)
		return copy_row(region, &region->header.notes, count, row, note, sizeof(*note));
	changing = region_row(region, &region->header.notes, row);
	for (int tries = 0; tries < 100; tries++) {
		uint32_t before = __atomic_load_n(&changing->generation, __ATOMIC_ACQUIRE);

		copy_row(region, &region->header.notes, count, row, note, sizeof(*note));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (before % 2 == 0 && region_word32(&changing->generation) == before)
			break;
		/* Marks a row that is torn after all tries. */
		note->generation |= 1;
	}
	note->text[sizeof(note->text) - 1] = '\0';
	return true;
}

const char *zone_region_string(
	const struct zone_region *region, uint32_t offset, char *copy, size_t copy_bytes)
{
	const struct zonewire_header *h = &region->header;
	size_t at = 0;

	if (offset < h->strings_bytes && copy_bytes > 0) {
		const char *from = (const char *)region->data + h->strings_offset + offset;
		size_t most = h->strings_bytes - offset;

		if (most > copy_bytes - 1)
			most = copy_bytes - 1;
		while (at < most && (copy[at] = from[at]) != '\0')
			at++;
	}
	if (copy_bytes > 0)
		copy[at] = '\0';
	return copy;
}

uint64_t zone_region_trouble(const struct zone_region *region, enum zonewire_trouble trouble)
{
	return region_word(&live_header(region)->trouble[trouble]);
}

struct zonewire_header zone_region_header(const struct zone_region *region)
{
	struct zonewire_header header;

	region_copy(&header, region->data, sizeof(header));
	header.program[sizeof(header.program) - 1] = '\0';
	for (uint32_t i = 0; i < ZONEWIRE_STREAMS; i++)
		header.stream[i].name[sizeof(header.stream[i].name) - 1] = '\0';
	if (header.stream_count > ZONEWIRE_STREAMS)
		header.stream_count = ZONEWIRE_STREAMS;
	return header;
}
