/* The used parts of zones memory, by its own counts, each checked against its table. */
#include "live/extents.h"

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static bool give_table(
	const struct zonewire_table *checked, uint32_t count, live_extent *each, void *context)
{
	uint64_t rows = least(count, checked->capacity);

	return rows == 0 || each(context, checked->offset, rows * checked->row_bytes);
}

bool live_event_ring(const struct zone_region *region, uint32_t slot, struct live_ring *ring)
{
	uint64_t size = region->header.region_bytes;
	struct zonewire_slot row;

	if (!zone_region_slot(region, slot, &row) || row.events_offset == 0 ||
		row.events_offset % 8 != 0 || row.events_offset > size || row.event_count == 0 ||
		(row.event_count & (row.event_count - 1)) != 0 ||
		row.event_count > (size - row.events_offset) / 8)
		return false;
	*ring = (struct live_ring){row.events_offset, row.event_count, row.event_head};
	return true;
}

static bool give_event_rings(const struct zone_region *region, live_extent *each, void *context)
{
	uint32_t count = zone_region_slot_count(region);
	struct live_ring ring;

	for (uint32_t i = 0; i < count; i++) {
		if (!live_event_ring(region, i, &ring) || ring.head == 0)
			continue;
		if (!each(context, ring.offset, 8 * least(ring.head, ring.count)))
			return false;
	}
	return true;
}

bool live_extents(const struct zone_region *region, live_extent *each, void *context)
{
	/* Places as they were checked; counts as they are. */
	const struct zonewire_header *h = &region->header;
	struct zonewire_header now = zone_region_header(region);

	return give_table(&h->slots, now.slots.count, each, context) &&
	       give_table(&h->zones, now.zones.count, each, context) &&
	       give_table(&h->notes, now.notes.count, each, context) &&
	       each(context, h->strings_offset, least(now.strings_used, h->strings_bytes)) &&
	       each(context, h->ring_offset, least(now.ring_head, h->ring_bytes)) &&
	       give_table(&h->nodes, now.nodes.count, each, context) &&
	       give_event_rings(region, each, context);
}
