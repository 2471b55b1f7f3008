/*
 * A program's memory of zones, made by hand, for tests of its readers: see zone_region.h.  Written
 * from man/sonde-zones.5's layout alone, so that it is not wrong where the runtime is.
 */
#include "zone_region.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void must(bool condition)
{
	if (!condition)
		abort();
}

static uint64_t put_table(
	struct zonewire_table *table, uint64_t offset, size_t row_bytes, uint32_t capacity)
{
	*table = (struct zonewire_table){
		.offset = offset, .row_bytes = (uint32_t)row_bytes, .capacity = capacity};
	return offset + (uint64_t)row_bytes * capacity;
}

static void put_header(struct zonewire_header *h)
{
	h->magic = ZONEWIRE_MAGIC;
	h->version = ZONEWIRE_VERSION;
	h->header_bytes = sizeof(*h);
	h->clock = ZONEWIRE_CLOCK_CALLED;
	h->pid = getpid();
	h->clock_mult = 1;
	h->start_ticks = h->now_ticks = 1; /* 0 is no beginning: an open time must be negative */
	h->generation = 1;
	h->start_unix_ns = UINT64_C(1700000000000000000);
	h->stream_count = 1;
	memcpy(h->program, "made", 5);
	memcpy(h->stream[0].name, "frame", 6);
}

void zone_maker_init(
	struct zone_maker *m, uint32_t zones, uint32_t nodes, uint32_t notes, uint64_t ring_bytes)
{
	struct zonewire_header h = {0};
	uint64_t at = ZONEWIRE_HEADER_BYTES;

	put_header(&h);
	at = put_table(&h.slots, at, sizeof(struct zonewire_slot), ZONE_MAKER_SLOTS);
	at = put_table(&h.zones, at, sizeof(struct zonewire_zone), zones);
	at = put_table(&h.notes, at, sizeof(struct zonewire_note), notes);
	h.strings_offset = at;
	h.strings_bytes = ZONE_MAKER_STRINGS;
	h.strings_used = 1;
	h.ring_offset = at += h.strings_bytes;
	h.ring_bytes = ring_bytes;
	at = put_table(&h.nodes, at + ring_bytes, sizeof(struct zonewire_node), nodes);
	h.region_bytes = (at + 4095) / 4096 * 4096;

	*m = (struct zone_maker){0};
	m->data = mmap(NULL, h.region_bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	must(m->data != MAP_FAILED);
	m->bytes = h.region_bytes;
	m->header = (void *)m->data;
	m->slot = (void *)(m->data + h.slots.offset);
	m->zone = (void *)(m->data + h.zones.offset);
	m->note = (void *)(m->data + h.notes.offset);
	m->node = (void *)(m->data + h.nodes.offset);
	*m->header = h;
	m->header->zones.count = m->header->nodes.count = m->header->notes.count = 1;
	must(zone_maker_zone(m, "_global", NULL, 0) == ZONEWIRE_ZONE_GLOBAL);
	must(zone_maker_zone(m, "...other", NULL, 0) == ZONEWIRE_ZONE_OTHER);
	must(zone_maker_zone(m, "prof_update", NULL, 0) == ZONEWIRE_ZONE_UPDATE);
	must(zone_region_open(&m->region, m->data, h.region_bytes) == NULL);
}

void zone_maker_deinit(struct zone_maker *m)
{
	munmap(m->data, m->bytes);
}

void zone_maker_pass(struct zone_maker *m, uint64_t ticks)
{
	m->header->now_ticks += ticks;
}

static uint32_t put_string(struct zone_maker *m, const char *string)
{
	uint64_t at = m->header->strings_used, bytes = strlen(string) + 1;

	must(at + bytes <= m->header->strings_bytes);
	memcpy(m->data + m->header->strings_offset + at, string, bytes);
	m->header->strings_used = at + bytes;
	return (uint32_t)at;
}

static const char *string_at(const struct zone_maker *m, uint32_t offset)
{
	return (const char *)m->data + m->header->strings_offset + offset;
}

uint32_t zone_maker_zone(struct zone_maker *m, const char *name, const char *file, uint32_t line)
{
	uint32_t count = m->header->zones.count;

	for (uint32_t i = 1; i < count; i++)
		if (strcmp(string_at(m, m->zone[i].name), name) == 0 &&
			strcmp(string_at(m, m->zone[i].file), file ? file : "") == 0 &&
			m->zone[i].line == line)
			return i;
	must(count < m->header->zones.capacity);
	m->zone[count] = (struct zonewire_zone){
		.name = put_string(m, name), .file = file ? put_string(m, file) : 0, .line = line};
	m->header->zones.count = count + 1;
	return count;
}

static uint32_t add_node(struct zone_maker *m, struct zonewire_node node)
{
	node.number = m->header->nodes.count;
	must(node.number < m->header->nodes.capacity);
	m->node[node.number] = node;
	m->header->nodes.count++;
	return node.number;
}

uint32_t zone_maker_slot(struct zone_maker *m, const char *name, int32_t tid)
{
	uint32_t index = m->header->slots.count, now = m->header->nodes.count;
	struct zonewire_slot slot = {.state = ZONEWIRE_SLOT_THREAD,
		.tid = tid,
		.start_ticks = m->header->now_ticks,
		.thread_count = 1};

	must(index < ZONE_MAKER_SLOTS && strlen(name) < sizeof(slot.name));
	memcpy(slot.name, name, strlen(name) + 1);
	slot.root = add_node(m, (struct zonewire_node){.ticks = -(int64_t)m->header->now_ticks,
					.entries = 1,
					.zone = ZONEWIRE_ZONE_GLOBAL,
					.parent = now,
					.slot = index});
	m->slot[index] = slot;
	m->header->slots.count++;
	m->top[index] = slot.root;
	return index;
}

uint32_t zone_maker_node(struct zone_maker *m, uint32_t parent, uint32_t zone)
{
	struct zonewire_node node = {.zone = zone,
		.parent = parent,
		.slot = m->node[parent].slot,
		.depth = m->node[parent].depth + 1,
		.next_sibling = m->node[parent].first_child};
	uint32_t i;

	for (i = m->node[parent].first_child; i != 0; i = m->node[i].next_sibling)
		if (m->node[i].zone == zone)
			return i;
	for (i = parent;; i = m->node[i].parent) {
		node.recursion += m->node[i].zone == zone;
		if (m->node[i].parent == i)
			break;
	}
	return m->node[parent].first_child = add_node(m, node);
}

void zone_maker_enter(struct zone_maker *m, uint32_t slot, uint32_t zone)
{
	uint32_t node = zone_maker_node(m, m->top[slot], zone);

	m->node[node].entries++;
	m->node[node].ticks -= (int64_t)m->header->now_ticks;
	m->top[slot] = node;
}

void zone_maker_leave(struct zone_maker *m, uint32_t slot)
{
	struct zonewire_node *node = &m->node[m->top[slot]];

	must(node->depth > 0);
	node->ticks += (int64_t)m->header->now_ticks;
	m->top[slot] = node->parent;
}

void zone_maker_spend(struct zone_maker *m, uint32_t slot, uint32_t zone, uint64_t ticks)
{
	zone_maker_enter(m, slot, zone);
	zone_maker_pass(m, ticks);
	zone_maker_leave(m, slot);
}

/* Makes room for a record at the head, letting old ones go; where it is to lie. */
static uint8_t *ring_room(struct zone_maker *m, uint64_t bytes)
{
	struct zonewire_header *h = m->header;
	uint8_t *ring = m->data + h->ring_offset;
	uint64_t left = h->ring_bytes - h->ring_head % h->ring_bytes;
	uint64_t needed = bytes > left ? left + bytes : bytes;

	must(needed <= h->ring_bytes);
	while (h->ring_head + needed - h->ring_tail > h->ring_bytes) {
		uint32_t old;

		memcpy(&old, ring + h->ring_tail % h->ring_bytes, sizeof(old));
		h->ring_tail += old;
	}
	if (bytes > left) {
		uint32_t pad[2] = {(uint32_t)left, ZONEWIRE_TICK_PAD};

		memcpy(ring + h->ring_head % h->ring_bytes, pad, sizeof(pad));
		h->ring_head += left;
	}
	return ring + h->ring_head % h->ring_bytes;
}

void zone_maker_tick(
	struct zone_maker *m, const struct zonewire_tick *tick, const struct zonewire_delta *delta)
{
	uint64_t delta_bytes = tick->delta_count * sizeof(*delta);
	struct zonewire_tick head = *tick;
	uint8_t *place;

	head.bytes = (uint32_t)(sizeof(head) + delta_bytes);
	place = ring_room(m, head.bytes);
	memcpy(place, &head, sizeof(head));
	if (delta_bytes > 0)
		memcpy(place + sizeof(head), delta, delta_bytes);
	m->header->ring_head += head.bytes;
	m->header->stream[head.stream].ticks++;
	m->header->stream[head.stream].last_end_ticks = head.end_ticks;
}

struct zonewire_note *zone_maker_note(struct zone_maker *m, uint32_t node)
{
	uint32_t row = m->header->notes.count;

	must(row < m->header->notes.capacity);
	m->header->notes.count++;
	m->note[row].node = node;
	m->node[node].note = row;
	return &m->note[row];
}

bool zone_maker_save(struct zone_maker *m, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	uint64_t at = 0;
	bool is_good;

	if (fd < 0)
		return false;
	m->header->is_saved = 1;
	while (at < m->header->region_bytes) {
		ssize_t written = write(fd, m->data + at, m->header->region_bytes - at);

		if (written <= 0)
			break;
		at += (uint64_t)written;
	}
	is_good = at == m->header->region_bytes;
	m->header->is_saved = 0;
	return close(fd) == 0 && is_good;
}
