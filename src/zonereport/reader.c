/*
 * Counters of all nodes, while they change.
 *
 * A node's time is one word that cannot be torn, but those of several nodes are read one after the
 * other.  Children have higher numbers than their parents, and the numbers are gone through from
 * the highest down: so a parent's time is read after those of its children, and can only be too
 * large beside them, by what reading took; what is left for the parent itself is never negative.
 * From one reading to the next such an error might go away again; then the parent's own time stands
 * still until it is caught up with.
 */

#include <stdlib.h>
#include <string.h>

#include "zonereport/region_words.h"

struct zone_reader *zone_reader_create(void)
{
	return calloc(1, sizeof(struct zone_reader));
}

void zone_reader_destroy(struct zone_reader *reader)
{
	if (!reader)
		return;
	free(reader->place);
	free(reader->counts);
	free(reader->is_open);
	free(reader->is_broken);
	free(reader->total);
	free(reader->children);
	free(reader->record);
	free(reader);
}

/* Room for that many rows of an array; what is new is zero. */
static bool grow_array(void *array, size_t row_bytes, uint32_t old_count, uint32_t count)
{
	void **place = array;
	uint8_t *grown = realloc(*place, row_bytes * count);

	if (!grown)
		return false;
	memset(grown + row_bytes * old_count, 0, row_bytes * (count - old_count));
	*place = grown;
	return true;
}

static bool grow(struct zone_reader *r, uint32_t count)
{
	uint32_t old = r->capacity, wanted = old ? old : 256;

	while (wanted < count)
		wanted *= 2;
	if (wanted == old)
		return true;
	if (!grow_array(&r->place, sizeof(*r->place), old, wanted) ||
		!grow_array(&r->counts, sizeof(*r->counts), old, wanted) ||
		!grow_array(&r->is_open, 1, old, wanted) ||
		!grow_array(&r->is_broken, 1, old, wanted) ||
		!grow_array(&r->total, sizeof(*r->total), old, wanted) ||
		!grow_array(&r->children, sizeof(*r->children), old, wanted))
		return false;
	r->capacity = wanted;
	return true;
}

/* Whether the row is a node like any, seen from those before it. */
static bool is_good_place(const struct zone_reader *r, uint32_t number,
	const struct zonewire_node *node, const struct zone_region *region)
{
	if (node->number != number || node->zone >= zone_region_zone_count(region) ||
		node->slot >= zone_region_slot_count(region))
		return false;
	if (node->depth == 0)
		return node->parent == number;
	return node->parent > 0 && node->parent < number && r->place[node->parent].zone != 0 &&
	       r->place[node->parent].slot == node->slot &&
	       r->place[node->parent].depth == node->depth - 1;
}

/* Nodes that are new since the last reading; a node is there as soon as its zone is. */
static void read_places(struct zone_reader *r, const struct zone_region *region, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		const struct zonewire_node *live;
		struct zonewire_node node;

		if (r->place[i].zone != 0 || r->is_broken[i])
			continue;
		live = region_row(region, &region->header.nodes, i);
		if (__atomic_load_n(&live->zone, __ATOMIC_ACQUIRE) == ZONEWIRE_ZONE_NONE)
			continue;
		region_copy(&node, live, offsetof(struct zonewire_node, private_words));
		if (is_good_place(r, i, &node, region)) {
			r->place[i] =
				(struct zone_place){node.zone, node.parent, node.slot, node.depth};
		} else {
			r->is_broken[i] = 1;
			r->reading.broken++;
		}
	}
}

/* The node's time so far and below it, its children's times being read. */
static uint64_t node_total(struct zone_reader *r, const struct zone_region *region, uint32_t number,
	const struct zonewire_node *live)
{
	/* Longer than any machine has run: then it is none. */
	const uint64_t too_long = UINT64_C(1) << 62;
	int64_t ticks = __atomic_load_n(&live->ticks, __ATOMIC_RELAXED);
	uint64_t total = (uint64_t)ticks;

	r->is_open[number] = ticks < 0;
	if (ticks < 0)
		total += zone_region_now(region);
	return total < too_long ? total : r->total[number];
}

static void read_counts(struct zone_reader *r, const struct zone_region *region, uint32_t count)
{
	memset(r->children, 0, count * sizeof(*r->children));
	for (uint32_t i = count; i-- > 1;) {
		const struct zonewire_node *live = region_row(region, &region->header.nodes, i);
		uint32_t parent = r->place[i].parent;
		uint64_t total, self;

		if (r->place[i].zone == 0)
			continue;
		total = node_total(r, region, i, live);
		r->total[i] = total;
		r->counts[i].entries = region_word(&live->entries);
		self = total > r->children[i] ? total - r->children[i] : 0;
		if (self > r->counts[i].self_ticks)
			r->counts[i].self_ticks = self;
		if (parent != i &&
			__builtin_add_overflow(r->children[parent], total, &r->children[parent]))
			r->children[parent] = UINT64_MAX;
	}
}

bool zone_reader_read(
	struct zone_reader *reader, const struct zone_region *region, struct zone_reading *reading)
{
	const struct zonewire_header *live = (const void *)region->data;
	uint32_t count = region_row_count(region, &region->header.nodes, &live->nodes);

	if (!grow(reader, count))
		return false;
	read_places(reader, region, count);
	read_counts(reader, region, count);
	reader->reading.now = zone_region_now(region);
	reader->reading.node_count = count;
	reader->reading.place = reader->place;
	reader->reading.counts = reader->counts;
	reader->reading.is_open = reader->is_open;
	*reading = reader->reading;
	return true;
}
