/*
 * Nodes: the zone stacks of a slot, as a tree.  A node is never freed and never changes its zone or
 * parent, so its number means the same as long as the program runs.
 *
 * One counter for all slots assigns the numbers.  Only the thread that owns the slot writes its
 * tree.  Children that are not in their parent's cache of eight are found through a hash table in
 * private memory, or, without memory, in the list of siblings.
 */
#include <string.h>

#include "zones/runtime.h"

enum { CHILDREN_FIRST = 1024 };

static uint32_t child_hash(uint32_t parent, uint32_t id)
{
	uint32_t hash = parent * 0x9e3779b1u ^ id * 0x85ebca6bu;

	return hash ^ hash >> 15;
}

static size_t children_bytes(uint32_t mask)
{
	return sizeof(uint32_t) * ((size_t)mask + 1);
}

static void children_put(uint32_t *children, uint32_t mask, const Prof_Zone_Stack *node)
{
	uint32_t at = child_hash(node->parent, node->zone) & mask;

	while (children[at])
		at = (at + 1) & mask;
	children[at] = node->number;
}

/* The slot's next child, starting at that number; 0: none. */
static uint32_t next_child(const struct zones_slot *slot, uint32_t number)
{
	uint32_t count = __atomic_load_n(&zones_rt.memory.header->nodes.count, __ATOMIC_ACQUIRE);

	for (; number < count; number++) {
		const Prof_Zone_Stack *node = &zones_rt.memory.nodes[number];

		if (__atomic_load_n(&node->zone, __ATOMIC_ACQUIRE) != ZONEWIRE_ZONE_NONE &&
			Prof_GET_(node->slot) == slot->index && node->up)
			return number;
	}
	return 0;
}

/*
 * Puts all nodes of the slot into a table that stays half empty for twice as many.  Counts them
 * again, because the count is unknown after a fork.
 */
static void children_grow(struct zones_slot *slot)
{
	uint32_t first = slot->root->number + 1, mask = CHILDREN_FIRST - 1, count = 0, number;
	uint32_t *children;

	for (number = first; (number = next_child(slot, number)) != 0; number++)
		count++;
	while (count > mask / 4)
		mask = mask * 2 + 1;
	children = zones_private(children_bytes(mask));
	zones_private_free(slot->children, children_bytes(slot->children_mask));
	slot->children = children;
	slot->children_mask = mask;
	slot->children_count = count;
	for (number = first; children && (number = next_child(slot, number)) != 0; number++)
		children_put(children, mask, &zones_rt.memory.nodes[number]);
}

static void children_add(struct zones_slot *slot, const Prof_Zone_Stack *node)
{
	if (!slot->children || slot->children_count >= slot->children_mask / 2) {
		children_grow(slot);
		return;
	}
	children_put(slot->children, slot->children_mask, node);
	slot->children_count++;
}

static Prof_Zone_Stack *find_in_list(const Prof_Zone_Stack *parent, uint32_t id)
{
	uint32_t number = parent->first_child;

	while (number && zones_rt.memory.nodes[number].zone != id)
		number = zones_rt.memory.nodes[number].next_sibling;
	return number ? &zones_rt.memory.nodes[number] : NULL;
}

static Prof_Zone_Stack *find_child(
	const struct zones_slot *slot, const Prof_Zone_Stack *parent, uint32_t id)
{
	uint32_t at, number;

	if (!slot->children)
		return find_in_list(parent, id);
	at = child_hash(parent->number, id) & slot->children_mask;
	for (; (number = slot->children[at]) != 0; at = (at + 1) & slot->children_mask) {
		Prof_Zone_Stack *node = &zones_rt.memory.nodes[number];

		if (node->parent == parent->number && node->zone == id)
			return node;
	}
	return NULL;
}

/* A new unique number; 0: there are no more. */
static uint32_t number_take(void)
{
	struct zonewire_table *table = &zones_rt.memory.header->nodes;
	uint32_t number = Prof_GET_(table->count);

	do {
		if (number >= table->capacity)
			return 0;
	} while (!__atomic_compare_exchange_n(&table->count, &number, number ? number + 1 : 2, true,
		__ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
	return number ? number : 1;
}

/*
 * How often the zone is on the path from the root to node.  The counts of the last path are kept
 * and updated by the difference, since nodes are usually created near each other.
 */
static uint32_t times_on_path(struct zones_slot *slot, Prof_Zone_Stack *node, uint32_t id)
{
	Prof_Zone_Stack *from = slot->path_at, *to = node;
	uint32_t *count = slot->path_count, times = 0;

	if (!count) {
		count = zones_private(sizeof(*count) * zones_rt.memory.header->zones.capacity);
		slot->path_count = count;
		from = NULL;
	}
	if (!count) {
		for (; to; to = to->up)
			times += to->zone == id;
		return times;
	}
	while (from != to) {
		if (from && (!to || from->depth >= to->depth)) {
			count[from->zone]--;
			from = from->up;
		} else {
			count[to->zone]++;
			to = to->up;
		}
	}
	slot->path_at = node;
	return count[id];
}

/* The zone is written last: a node without one does not exist yet. */
static Prof_Zone_Stack *node_make(
	struct zones_slot *slot, Prof_Zone_Stack *parent, uint32_t id, uint32_t recursion)
{
	uint32_t number = number_take();
	Prof_Zone_Stack *node = &zones_rt.memory.nodes[number];
	int i;

	if (!number) {
		zones_trouble(ZONEWIRE_NO_NODES, 1);
		return NULL;
	}
	Prof_PUT_(node->number, number);
	Prof_PUT_(node->parent, parent ? parent->number : number);
	Prof_PUT_(node->slot, slot->index);
	Prof_PUT_(node->depth, parent ? parent->depth + 1 : 0);
	Prof_PUT_(node->recursion, recursion);
	node->up = parent;
	for (i = 0; i < 8; i++)
		node->child[i] = &zones_nowhere;
	if (parent)
		Prof_PUT_(node->next_sibling, parent->first_child);
	__atomic_store_n(&node->zone, id, __ATOMIC_RELEASE);
	if (parent)
		__atomic_store_n(&parent->first_child, number, __ATOMIC_RELEASE);
	return node;
}

Prof_Zone_Stack *zones_node_root(struct zones_slot *slot)
{
	return node_make(slot, NULL, ZONEWIRE_ZONE_GLOBAL, 0);
}

Prof_Zone_Stack *zones_node_child(struct zones_slot *slot, Prof_Zone_Stack *parent, uint32_t id)
{
	Prof_Zone_Stack *node = find_child(slot, parent, id);

	if (node)
		return node;
	if (parent->depth >= ZONEWIRE_DEPTH_MAX) {
		zones_trouble(ZONEWIRE_TOO_DEEP, 1);
		return NULL;
	}
	node = node_make(slot, parent, id, times_on_path(slot, parent, id));
	if (node)
		children_add(slot, node);
	return node;
}

void zones_nodes_forget(struct zones_slot *slot)
{
	slot->children = NULL;
	slot->children_count = 0;
	slot->path_count = NULL;
	slot->path_at = NULL;
}
