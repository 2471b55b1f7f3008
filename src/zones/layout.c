/*
 * The layout of the tables in the zones memory, for memory of any size from 1 MiB.
 *
 * Row counts are for 64 MiB; in smaller memory, all tables are smaller by the same factor.  Event
 * rings use the space after the nodes.
 *
 * A program that shows its zones has 4 MiB and some 250 bytes for each node in private memory as
 * well.  The number of nodes is such that this and all tables together take 64 MiB.  See
 * formats/sonde/layout/zonewire.h and man/sonde-zones.5.
 */
#include "zones/runtime.h"

enum {
	FULL_BYTES = 64 << 20,
	FULL_SLOTS = 1024,
	FULL_ZONES = 16384,
	FULL_NOTES = 8192,
	FULL_STRINGS = 2 << 20,
	FULL_RING = 4 << 20,
	FULL_NODES = 140 << 10,
	PAGE = 4096,
};

/*
 * Clients of prof.h are compiled with these, and readers rely on them, so they must never change.
 */
#define SAME(a, b) __extension__ _Static_assert((a) == (b), "a layout that others know")
#define SAME_PLACE(field)                                                                          \
	SAME(offsetof(Prof_Zone_Stack, field), offsetof(struct zonewire_node, field))
SAME(sizeof(Prof_Zone_Stack), sizeof(struct zonewire_node));
SAME_PLACE(ticks);
SAME_PLACE(entries);
SAME_PLACE(zone);
SAME_PLACE(parent);
SAME_PLACE(slot);
SAME_PLACE(depth);
SAME_PLACE(number);
SAME_PLACE(recursion);
SAME_PLACE(first_child);
SAME_PLACE(next_sibling);
SAME_PLACE(skipped);
SAME_PLACE(note);
SAME(offsetof(Prof_Zone_Stack, up), offsetof(struct zonewire_node, private_words));
SAME(sizeof(struct zonewire_node), 128);
SAME(sizeof(struct zonewire_slot), 192);
SAME(sizeof(struct zonewire_zone), 32);
SAME(sizeof(struct zonewire_note), 88);
SAME(sizeof(struct zonewire_tick), 48);
SAME(sizeof(struct zonewire_delta), 16);
SAME(offsetof(struct zonewire_slot, event_head) % 64, 0);
SAME(offsetof(struct Prof_Ring_, head), 0);
SAME(offsetof(struct zonewire_slot, event_head) + sizeof(struct Prof_Ring_) <=
		sizeof(struct zonewire_slot),
	1);
SAME(sizeof(struct zonewire_header) <= ZONEWIRE_HEADER_BYTES, 1);
SAME(sizeof(Prof_Zone), 40);
SAME(offsetof(Prof_Zone, id), 20);
SAME(sizeof(Prof_Thread_), 56);

static uint64_t put_table(
	struct zonewire_table *table, uint64_t offset, size_t row_bytes, uint64_t capacity)
{
	table->offset = offset;
	table->row_bytes = (uint32_t)row_bytes;
	table->capacity = (uint32_t)capacity;
	return (offset + row_bytes * capacity + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

void zones_layout(struct zonewire_header *header, size_t bytes)
{
	uint64_t part = FULL_BYTES / bytes;
	uint64_t at = ZONEWIRE_HEADER_BYTES;

	header->region_bytes = bytes;
	at = put_table(&header->slots, at, sizeof(struct zonewire_slot), FULL_SLOTS / part);
	at = put_table(&header->zones, at, sizeof(struct zonewire_zone), FULL_ZONES / part);
	at = put_table(&header->notes, at, sizeof(struct zonewire_note), FULL_NOTES / part);
	header->strings_offset = at;
	header->strings_bytes = FULL_STRINGS / part;
	at += header->strings_bytes;
	header->ring_offset = at;
	header->ring_bytes = FULL_RING / part;
	at += header->ring_bytes;
	put_table(&header->nodes, at, sizeof(struct zonewire_node), FULL_NODES / part);
}

size_t zones_rings_room(const struct zonewire_header *header)
{
	return (size_t)(header->region_bytes - header->nodes.offset -
			(uint64_t)header->nodes.row_bytes * header->nodes.capacity);
}

void zones_layout_map(struct zones_memory *memory, void *base, size_t bytes)
{
	struct zonewire_header *header = base;
	uint8_t *start = base;

	memory->base = start;
	memory->bytes = bytes;
	memory->slots = (void *)(start + header->slots.offset);
	memory->zones = (void *)(start + header->zones.offset);
	memory->notes = (void *)(start + header->notes.offset);
	memory->strings = (char *)start + header->strings_offset;
	memory->nodes = (void *)(start + header->nodes.offset);
	/* Last, because readers that find it expect the rest. */
	__atomic_store_n(&memory->header, header, __ATOMIC_RELEASE);
}
