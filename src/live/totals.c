/*
 * Sums over the nodes of a reading.  A node's total time is summed from the highest number down, as
 * parents have lower numbers; it counts for its zone unless the same zone is above it.
 */
#include "live/totals.h"

#include <stdlib.h>

#include "base/alloc.h"

/* The number of nodes of the same zone above this one. */
static uint32_t recursion_of(const struct zone_reading *reading, uint32_t node)
{
	uint32_t zone = reading->place[node].zone, count = 0;

	while (reading->place[node].depth > 0) {
		node = reading->place[node].parent;
		count += reading->place[node].zone == zone;
	}
	return count;
}

static void add(struct live_total *total, const struct zone_reading *reading, uint32_t node,
	uint64_t with_below)
{
	uint32_t recursion = recursion_of(reading, node);

	total->self_ticks += reading->counts[node].self_ticks;
	total->entries += reading->counts[node].entries;
	total->open += reading->is_open[node];
	if (recursion == 0)
		total->total_ticks += with_below;
	if (recursion > total->recursion)
		total->recursion = recursion;
}

struct live_total *live_totals(
	const struct zone_reading *reading, uint32_t zone_count, uint32_t slot)
{
	struct live_total *totals = xcalloc(zone_count + (size_t)1, sizeof(*totals));
	uint64_t *below = xcalloc(reading->node_count + (size_t)1, sizeof(*below));

	for (uint32_t i = reading->node_count; i-- > 1;) {
		const struct zone_place *place = &reading->place[i];
		uint64_t with_below = reading->counts[i].self_ticks + below[i];
		if (place->zone == 0 || place->zone >= zone_count)
			continue;
		if (place->parent < i)
			below[place->parent] += with_below;
		if (slot == UINT32_MAX || place->slot == slot)
			add(&totals[place->zone], reading, i, with_below);
	}
	free(below);
	return totals;
}
