/*
 * Estimates when a program ended, from its memory alone.
 *
 * An open zone's word is the time of all its closed entries minus the tick at which the current one
 * began, so the end is not before the negative of that.  A zone also cannot have taken less time
 * than the zones below it.  So for the innermost open zone, which has only closed zones below it,
 * the end is not before the sum of theirs minus its own word.  If it has no closed entries and no
 * time of its own in between, this is exactly the tick at which the last zone ended.
 */
#include "zonereport/last_tick.h"

#include <stdlib.h>

#include "zonereport/region_words.h"

static void raise_to(uint64_t *last, uint64_t tick)
{
	/* No machine's clock reaches this; corrupt memory does. */
	if (tick > *last && tick < UINT64_C(1) << 62)
		*last = tick;
}

/* The last tick stated in the header and the slots. */
static uint64_t told(const struct zone_region *region)
{
	struct zonewire_header header = zone_region_header(region);
	uint32_t count = zone_region_slot_count(region);
	struct zonewire_slot slot;
	uint64_t last = header.start_ticks;

	raise_to(&last, header.now_ticks);
	raise_to(&last, header.exit_ticks);
	for (uint32_t i = 0; i < header.stream_count; i++)
		raise_to(&last, header.stream[i].last_end_ticks);
	for (uint32_t i = 0; i < count; i++)
		if (zone_region_slot(region, i, &slot))
			raise_to(&last, slot.start_ticks);
	return last;
}

/* Adds up the time below each node, in closed nodes; INT64_MAX: one is open. */
static void add_below(int64_t *below, int64_t ticks)
{
	if (ticks < 0 || __builtin_add_overflow(*below, ticks, below))
		*below = INT64_MAX;
}

static void prove_by_nodes(
	const struct zone_region *region, uint32_t count, int64_t *below, uint64_t *last)
{
	for (uint32_t i = count; i-- > 1;) {
		struct zonewire_node node;

		region_copy(&node, region_row(region, &region->header.nodes, i),
			offsetof(struct zonewire_node, private_words));
		if (node.zone == ZONEWIRE_ZONE_NONE || node.number != i)
			continue;
		if (node.parent > 0 && node.parent < i)
			add_below(&below[node.parent], node.ticks);
		if (node.ticks >= 0)
			continue;
		raise_to(last, -(uint64_t)node.ticks);
		if (below[i] != INT64_MAX)
			raise_to(last, (uint64_t)below[i] - (uint64_t)node.ticks);
	}
}

uint64_t zone_region_last_tick(const struct zone_region *region)
{
	const struct zonewire_header *live = (const void *)region->data;
	uint32_t count = region_row_count(region, &region->header.nodes, &live->nodes);
	uint64_t last = told(region);
	int64_t *below;

	if (region_word32(&live->is_saved))
		return zone_region_now(region);
	below = calloc((size_t)count + 1, sizeof(*below));
	if (below)
		prove_by_nodes(region, count, below, &last);
	free(below);
	return last;
}
