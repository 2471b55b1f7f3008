/*
 * Reads the counters of all nodes while they change.
 *
 * A node's time is one word that cannot be torn, but the times of several nodes are read one after
 * the other.  Children are read before their parents, so a parent's time can only be too large
 * compared with theirs, by the time of the reading, and the parent's own time is never negative.
 * In the next reading, such an error may disappear; the parent's own time then does not change
 * until it has caught up.
 *
 * Programs have many zone stacks, and few are active in a frame.  Below a closed, unchanged node,
 * nothing has changed, because entering a zone requires entering those above it.  So a walk from
 * the roots down finds everything to read.  Whether a node has changed is decided on that walk,
 * before anything below it is read: later activity there changes the node again.  As stores may
 * become visible in a different order, the nodes below a changed node are read once more in the
 * next reading.
 */

#include <stdlib.h>
#include <string.h>

#include "zonereport/region_words.h"
#include "zonereport/rows.h"

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
	free(reader->look);
	free(reader->changed);
	free(reader->record);
	free(reader);
}

static bool grow(struct zone_reader *r, uint32_t count)
{
	uint32_t old = r->capacity, wanted = rows_wanted(old, count);

	if (wanted == old)
		return true;
	if (!rows_grow(&r->place, sizeof(*r->place), old, wanted) ||
		!rows_grow(&r->counts, sizeof(*r->counts), old, wanted) ||
		!rows_grow(&r->is_open, 1, old, wanted) ||
		!rows_grow(&r->look, sizeof(*r->look), old, wanted) ||
		!rows_grow(&r->changed, sizeof(*r->changed), old, wanted))
		return false;
	r->capacity = wanted;
	return true;
}

/* Whether the row is a valid node, given those before it. */
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

/* Links a node below its parent, a root below node 0, and makes the walk visit it. */
static void link_node(struct zone_reader *r, uint32_t number)
{
	uint32_t parent = r->place[number].parent == number ? 0 : r->place[number].parent;

	r->look[number].stirs = true;
	r->look[number].next_sibling = r->look[parent].first_child;
	r->look[parent].first_child = number;
	for (; parent && !r->look[parent].stirs; parent = r->place[parent].parent)
		r->look[parent].stirs = true;
}

/* Reads nodes created since the last reading; a node exists when its zone is set. */
static void read_places(struct zone_reader *r, const struct zone_region *region, uint32_t count)
{
	uint32_t unknown = count;

	for (uint32_t i = r->known_below ? r->known_below : 1; i < count; i++) {
		const struct zonewire_node *live;
		struct zonewire_node node;

		if (r->place[i].zone != 0 || r->look[i].is_broken)
			continue;
		live = region_row(region, &region->header.nodes, i);
		if (__atomic_load_n(&live->zone, __ATOMIC_ACQUIRE) == ZONEWIRE_ZONE_NONE) {
			unknown = i < unknown ? i : unknown;
			continue;
		}
		region_copy(&node, live, offsetof(struct zonewire_node, private_words));
		if (is_good_place(r, i, &node, region)) {
			r->place[i] =
				(struct zone_place){node.zone, node.parent, node.slot, node.depth};
			link_node(r, i);
		} else {
			r->look[i].is_broken = true;
			r->reading.broken++;
		}
	}
	r->known_below = unknown;
}

/* Whether to visit nodes below this one, now and at the next reading. */
static bool has_stirred(struct zone_reader *r, const struct zone_region *region, uint32_t number)
{
	const struct zonewire_node *live = region_row(region, &region->header.nodes, number);
	struct zone_look *look = &r->look[number];
	int64_t ticks = __atomic_load_n(&live->ticks, __ATOMIC_ACQUIRE);
	uint64_t entries = __atomic_load_n(&live->entries, __ATOMIC_ACQUIRE);
	bool did_stir = look->stirs;

	look->stirs = ticks < 0 || ticks != look->ticks || entries != look->entries;
	look->ticks = ticks;
	look->entries = entries;
	return look->stirs || did_stir;
}

/* The next node of the walk, below this one or not; 0: the end. */
static uint32_t next_node(const struct zone_reader *r, uint32_t number, bool goes_down)
{
	if (goes_down && r->look[number].first_child)
		return r->look[number].first_child;
	while (r->place[number].parent != number && !r->look[number].next_sibling)
		number = r->place[number].parent;
	return r->look[number].next_sibling;
}

/* Lists the nodes that have changed, parents before their children. */
static void find_changed(struct zone_reader *r, const struct zone_region *region)
{
	uint32_t number = r->look[0].first_child;

	r->reading.changed_count = 0;
	while (number != 0) {
		bool is_changed = has_stirred(r, region, number);

		if (is_changed)
			r->changed[r->reading.changed_count++] = number;
		number = next_node(r, number, is_changed);
	}
}

/* The node's total time so far, after reading its children's. */
static uint64_t node_total(struct zone_reader *r, const struct zone_region *region, uint32_t number,
	const struct zonewire_node *live)
{
	/* No machine has run for so long, so the value is invalid. */
	const uint64_t too_long = UINT64_C(1) << 62;
	int64_t ticks = __atomic_load_n(&live->ticks, __ATOMIC_RELAXED);
	uint64_t total = (uint64_t)ticks;

	r->is_open[number] = ticks < 0;
	if (ticks < 0)
		total += zone_region_now(region);
	return total < too_long ? total : r->look[number].total;
}

/* a - b, but at least 0. */
static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static void read_count(struct zone_reader *r, const struct zone_region *region, uint32_t number)
{
	const struct zonewire_node *live = region_row(region, &region->header.nodes, number);
	struct zone_look *look = &r->look[number];
	uint32_t parent = r->place[number].parent;
	uint64_t total = node_total(r, region, number, live), self;

	r->counts[number].entries = region_word(&live->entries);
	self = less(total, look->children);
	if (self > r->counts[number].self_ticks)
		r->counts[number].self_ticks = self;
	if (parent != number)
		r->look[parent].children += total - look->total;
	look->total = total;
}

bool zone_reader_read(
	struct zone_reader *reader, const struct zone_region *region, struct zone_reading *reading)
{
	const struct zonewire_header *live = (const void *)region->data;
	uint32_t count = region_row_count(region, &region->header.nodes, &live->nodes);

	if (!grow(reader, count))
		return false;
	read_places(reader, region, count);
	find_changed(reader, region);
	for (uint32_t i = reader->reading.changed_count; i-- > 0;)
		read_count(reader, region, reader->changed[i]);
	reader->reading.now = zone_region_now(region);
	reader->reading.node_count = count;
	reader->reading.place = reader->place;
	reader->reading.counts = reader->counts;
	reader->reading.is_open = reader->is_open;
	reader->reading.changed = reader->changed;
	reader->reading.serial++;
	*reading = reader->reading;
	return true;
}
