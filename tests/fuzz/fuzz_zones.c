/*
 * A program's zones memory, made of any bytes: opened, read, followed and shown as `sonde live`
 * does, and read as a profile; and, where the bytes begin as an ELF file does, a core dump that may
 * have such memory in it.
 */
#include <assert.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../zone_region.h"
#include "live/attach.h"
#include "live/totals.h"
#include "formats/readers.h"
#include "zonereport/follow.h"
#include "zonereport/last_tick.h"
#include "zonereport/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t fuzz_seed(size_t n, uint8_t *data, size_t capacity);

/* ---- what is done with an input ---- */

static void try_tables(const struct zone_region *region)
{
	struct zone_event events[64];
	struct zonewire_zone zone;
	struct zonewire_note note;
	char text[32];

	for (uint32_t i = 0; i < zone_region_zone_count(region) && i < 1000; i++) {
		assert(zone_region_zone(region, i, &zone));
		assert(strlen(zone_region_string(region, zone.name, text, sizeof(text))) <
			sizeof(text));
		(void)zone_region_note(region, i, &note);
	}
	for (uint32_t i = 0; i < zone_region_slot_count(region) && i < 100; i++) {
		uint64_t position = 0, lost;
		while (zone_region_events(region, i, &position, zone_region_now(region), events, 64,
			       &lost) == 64)
			;
	}
}

static void try_reading(const struct zone_region *region)
{
	struct zone_reader *reader = zone_reader_create();
	struct zone_reading first, second;

	assert(zone_reader_read(reader, region, &first));
	free(live_totals(&first, zone_region_zone_count(region), ZONE_SLOT_ALL));
	assert(zone_reader_read(reader, region, &second));
	for (uint32_t i = 1; i < second.node_count; i++)
		assert(second.place[i].parent <= i);
	zone_reader_destroy(reader);
}

static void try_report(struct zone_follow *follow, enum zone_mode mode)
{
	struct zone_query query = ZONE_QUERY_INIT;
	char label[64];

	query.mode = mode;
	query.recursion = mode & 1 ? ZONE_SPREAD : ZONE_FLATTEN;
	query.focus = 4;
	struct zone_report *report = zone_report_create(zone_follow_history(follow), &query);
	assert(report);
	for (size_t i = 0; i < report->row_count; i++)
		assert(zone_row_label(&report->row[i], label, sizeof(label)) < sizeof(label));
	zone_report_destroy(report);
}

static void try_following(const struct zone_region *region)
{
	static const uint32_t bases[] = {0, 1, ZONE_BASE_LOOKS, ZONE_BASE_RUN, ZONE_BASE_AUTO};
	struct zone_follow *follow = zone_follow_create(region);

	for (size_t i = 0; i < ARRAY_SIZE(bases); i++) {
		assert(zone_follow_set_base(follow, bases[i]));
		(void)zone_follow_look(follow);
		(void)zone_follow_look(follow);
		for (int mode = 0; mode < ZONE_MODES; mode++)
			try_report(follow, (enum zone_mode)mode);
	}
	zone_follow_destroy(follow);
}

static void try_profile(const uint8_t *data, size_t size)
{
	struct reader_input input = {.name = "input", .data = data, .size = size};
	struct profile *p = NULL;
	struct error *err = profile_read_bytes(&input, "zones", &p);

	if (err == NULL)
		assert(p->metric_count == 3 && p->has_stacks);
	error_destroy(err);
	profile_destroy(p);
}

static void try_core(const uint8_t *data, size_t size)
{
	int fd = memfd_create("core", MFD_CLOEXEC);
	struct live *live = NULL;
	char path[32];

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	struct error *err = live_open_file(path, &live);
	if (err == NULL)
		try_reading(&live->memory.region);
	error_destroy(err);
	live_destroy(live);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct zone_region region;

	/* Histories are large and hardly used: fresh pages need not be cleared. */
	mallopt(M_MMAP_THRESHOLD, 1 << 20);
	if (size > 4 && memcmp(data, "\177ELF", 4) == 0) {
		try_core(data, size);
		return 0;
	}
	uint64_t *aligned = calloc(size / sizeof(*aligned) + 1, sizeof(*aligned));
	if (aligned == NULL)
		abort();
	memcpy(aligned, data, size);
	if (zone_region_open(&region, aligned, size) == NULL) {
		region.ended_ticks = zone_region_last_tick(&region);
		try_tables(&region);
		try_reading(&region);
		try_following(&region);
	}
	free(aligned);
	try_profile(data, size);
	return 0;
}

/* ---- seeds ---- */

/* Two threads, recursion, ticks, an event ring in what is left of the strings. */
static void make(struct zone_maker *m)
{
	zone_maker_init(m, 12, 32, 4, 2048);
	uint32_t a = zone_maker_slot(m, "main", 1), b = zone_maker_slot(m, "", 2);
	uint32_t outer = zone_maker_zone(m, "outer", "a.c", 1);
	uint32_t inner = zone_maker_zone(m, "inner\033", NULL, 0);

	zone_maker_enter(m, b, inner);
	for (uint64_t i = 0; i < 3; i++) {
		uint64_t start = m->header->now_ticks;
		zone_maker_enter(m, a, outer);
		zone_maker_spend(m, a, inner, 1000 * i);
		zone_maker_enter(m, a, outer);
		zone_maker_spend(m, a, inner, 10);
		zone_maker_leave(m, a);
		zone_maker_leave(m, a);
		zone_maker_tick(m,
			&(struct zonewire_tick){.bytes = sizeof(struct zonewire_tick) +
							 2 * sizeof(struct zonewire_delta),
				.number = i,
				.start_ticks = start,
				.end_ticks = m->header->now_ticks,
				.delta_count = 2},
			(struct zonewire_delta[]){{3, 1, 10}, {4, 1, 1000 * i}});
	}
	m->header->trouble[ZONEWIRE_MISSING_END] = 1;
	m->header->trouble_open = outer;
	m->header->trouble_ended = inner;
	struct zonewire_slot *slot = &m->slot[a];
	slot->event_count = 16;
	slot->events_offset = m->header->strings_offset + 512;
	uint64_t *events = (uint64_t *)(void *)(m->data + slot->events_offset);
	for (uint64_t i = 0; i < 20; i++)
		events[slot->event_head++ & 15] = (i * 50 + 1) << ZONEWIRE_EVENT_NODE_BITS | i % 6;
}

/* The memory with as many bytes of strings as are used: a seed is to be small. */
static size_t put_small(const struct zone_maker *m, uint8_t *data, size_t capacity)
{
	const struct zonewire_header *from = m->header;
	struct zonewire_header h = *from;
	size_t nodes_bytes = (size_t)h.nodes.row_bytes * h.nodes.capacity;

	h.strings_bytes = 1024;
	h.ring_offset = h.strings_offset + h.strings_bytes;
	h.nodes.offset = h.ring_offset + h.ring_bytes;
	h.region_bytes = h.nodes.offset + nodes_bytes;
	if (h.region_bytes > capacity)
		abort();
	memcpy(data, m->data, h.ring_offset);
	memcpy(data, &h, sizeof(h));
	memcpy(data + h.ring_offset, m->data + from->ring_offset, h.ring_bytes);
	memcpy(data + h.nodes.offset, m->data + from->nodes.offset, nodes_bytes);
	return h.region_bytes;
}

/* A core dump of one segment, behind a page of headers. */
static size_t wrap_in_core(uint8_t *data, size_t size, size_t capacity)
{
	static const uint8_t head[64] = {0x7f, 'E', 'L', 'F', 2, 1,
		1, [16] = 4, [20] = 1, [32] = 64, [52] = 64, [54] = 56, [56] = 1};
	const uint64_t segment[7] = {1 | UINT64_C(6) << 32, 4096, 0x7000, 0, size, size, 4096};

	if (size + 4096 > capacity)
		abort();
	memmove(data + 4096, data, size);
	memset(data, 0, 4096);
	memcpy(data, head, sizeof(head));
	memcpy(data + 64, segment, sizeof(segment));
	return size + 4096;
}

/* Seed 0 is saved memory, 1 that of a program that was killed, 2 a core dump. */
size_t fuzz_seed(size_t n, uint8_t *data, size_t capacity)
{
	struct zone_maker m;

	if (n > 2)
		return 0;
	make(&m);
	m.header->is_saved = n == 0;
	if (n > 0)
		m.header->clock = ZONEWIRE_CLOCK_CPU;
	size_t size = put_small(&m, data, capacity);
	zone_maker_deinit(&m);
	return n == 2 ? wrap_in_core(data, size, capacity) : size;
}
