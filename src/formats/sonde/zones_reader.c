/*
 * Reads a program's zones memory (formats/sonde/layout/zonewire.h): saved by `sonde live
 * --save`, or the program's own file (SONDE_ZONES=file=). docs/formats/zones.md defines the
 * mapping.
 *
 * All figures come from the counters, which cover the whole run.  The ring has the last ticks, so
 * part of a stack's time is attributed to those, and the rest was spent before.
 */
#include "formats/readers.h"

#include <stdio.h>
#include <stdlib.h>

#include "formats/sonde/layout/capture.h"
#include "formats/sonde/layout/zonewire.h"
#include "formats/sonde/capture_zones.h"
#include "zonereport/last_end.h"
#include "zonereport/last_tick.h"
#include "zonereport/region.h"

enum { EVENTS_AT_ONCE = 4096, NAME_BYTES = 4096 };

struct zones {
	const struct reader_input *input;
	struct builder *builder;
	struct zone_region region;
	struct zone_reader *reader;
	struct zone_reading reading;
	metric_id time, entries;
	object_id object;
	process_id process;
	thread_id *threads;	/* [slot_count] */
	uint32_t *slot_stream;	/* [slot_count]: the stream whose ticks have its rows, or
				   ZONEWIRE_STREAMS */
	function_id *functions; /* [zone_count]; NO_ID: not made yet */
	uint32_t slot_count, zone_count;
	stack_id *stacks; /* [node_count]; 0: invalid node */
	/* [node_count]: the part of a node's counters attributed to ticks. */
	struct zone_counts *dealt;
	uint64_t before_ns; /* the time assigned to everything outside ticks */
	uint64_t cut_ticks, lost_events;
};

static uint64_t time_ns(const struct zones *z, uint64_t ticks)
{
	int64_t ns = zone_region_ns(&z->region, ticks);

	return ns > 0 ? (uint64_t)ns : 0;
}

static string_id region_string(struct zones *z, uint32_t offset)
{
	char text[NAME_BYTES];

	return builder_string(
		z->builder, str_from(zone_region_string(&z->region, offset, text, sizeof(text))));
}

/* ---- tables ---- */

static void add_header(struct zones *z)
{
	struct builder_header *header = builder_header(z->builder);
	struct zonewire_header h = zone_region_header(&z->region);

	(void)builder_metric(z->builder, STR("samples"), STR("count"));
	z->time = builder_metric(z->builder, STR(ZONE_TIME), STR("ns"));
	z->entries = builder_metric(z->builder, STR(ZONE_ENTRIES), STR("count"));
	header->default_metric = z->time;
	header->command = builder_string(z->builder, str_from(h.program));
	header->start_unix_ns = h.start_unix_ns;
	header->stats.duration_ns = time_ns(z, zone_region_now(&z->region));
	z->object = builder_object(z->builder, STR(ZONE_OBJECT), STR(""), OBJECT_ZONE);
	z->process = builder_process(z->builder, h.pid, 0, str_from(h.program));
}

static void add_threads(struct zones *z)
{
	z->slot_count = zone_region_slot_count(&z->region);
	z->threads = xcalloc(z->slot_count + (size_t)1, sizeof(*z->threads));
	for (uint32_t i = 0; i < z->slot_count; i++) {
		struct zonewire_slot slot;
		(void)zone_region_slot(&z->region, i, &slot);
		z->threads[i] = builder_thread(z->builder, slot.tid, z->process,
			time_ns(z, slot.start_ticks), str_from(slot.name));
	}
}

/* For a zone that is a function: its load object, if known. */
static object_id zone_object(struct zones *z, const struct zonewire_zone *zone)
{
	char path[NAME_BYTES];

	if (zone->code == 0 || zone->module == 0)
		return z->object;
	zone_region_string(&z->region, zone->module, path, sizeof(path));
	if (path[0] == '\0')
		return z->object;
	return builder_object(z->builder, str_from(path), STR(""), OBJECT_USER);
}

static function_id zone_function(struct zones *z, uint32_t id)
{
	function_id *function = &z->functions[id];
	struct zonewire_zone zone;

	if (function->i == NO_ID && zone_region_zone(&z->region, id, &zone))
		*function = builder_function(z->builder, region_string(z, zone.name),
			zone_object(z, &zone), region_string(z, zone.file), zone.line);
	return *function;
}

static frame_id zone_frame(struct zones *z, uint32_t id)
{
	struct zonewire_zone zone;

	(void)zone_region_zone(&z->region, id, &zone);
	return builder_frame(
		z->builder, zone_function(z, id), region_string(z, zone.file), zone.line, false, 0);
}

/* Makes stacks of all nodes: a parent's number is lower than its children's. */
static void add_stacks(struct zones *z)
{
	const struct zone_reading *reading = &z->reading;

	z->zone_count = zone_region_zone_count(&z->region);
	z->functions = xcalloc(z->zone_count + (size_t)1, sizeof(*z->functions));
	for (uint32_t i = 0; i < z->zone_count; i++)
		z->functions[i].i = NO_ID;
	z->stacks = xcalloc(reading->node_count + (size_t)1, sizeof(*z->stacks));
	for (uint32_t i = 1; i < reading->node_count; i++) {
		const struct zone_place *place = &reading->place[i];
		stack_id parent = {0};
		if (place->zone == 0 || place->zone >= z->zone_count ||
			place->slot >= z->slot_count)
			continue;
		if (place->parent < i)
			parent = z->stacks[place->parent];
		z->stacks[i] = builder_stack(z->builder, parent, zone_frame(z, place->zone));
	}
}

/* ---- figures ---- */

/*
 * Adds a row of a node's work up to a time, since its previous row.  Nanoseconds are differences of
 * rounded sums, so that they add up to the rounded total.
 */
static void add_row(struct zones *z, uint32_t node, uint64_t at_ns, struct zone_counts did)
{
	struct zone_counts whole = z->reading.counts[node], *dealt = &z->dealt[node];
	int64_t weight[3] = {0};

	/*
	 * In corrupt memory, or a copy taken during a write, a tick may have more than the total.
	 */
	if (did.self_ticks > whole.self_ticks - dealt->self_ticks)
		did.self_ticks = whole.self_ticks - dealt->self_ticks;
	if (did.entries > whole.entries - dealt->entries)
		did.entries = whole.entries - dealt->entries;
	if (did.self_ticks == 0 && did.entries == 0)
		return;
	uint64_t from_ns = zone_region_duration_ns(&z->region, dealt->self_ticks);
	dealt->self_ticks += did.self_ticks;
	dealt->entries += did.entries;
	weight[z->time.i] =
		(int64_t)(zone_region_duration_ns(&z->region, dealt->self_ticks) - from_ns);
	weight[z->entries.i] = (int64_t)(did.entries & INT64_MAX);
	builder_sample(z->builder, z->stacks[node], z->threads[z->reading.place[node].slot],
		builder_time(at_ns), weight);
	builder_sample_zone(z->builder, z->stacks[node]);
}

/*
 * A thread may end ticks of several streams, all covering the same time: those of the first one
 * count.
 */
static bool has_rows_of(struct zones *z, uint32_t stream, uint32_t slot)
{
	if (z->slot_stream[slot] == ZONEWIRE_STREAMS)
		z->slot_stream[slot] = stream;
	return stream == 0 || z->slot_stream[slot] == stream;
}

/* A slot is not that of a thread if an observer ended the tick. */
static thread_id thread_of_slot(const struct zones *z, uint32_t slot)
{
	return slot < z->slot_count ? z->threads[slot] : (thread_id){NO_ID};
}

static void add_tick(
	struct zones *z, const struct zonewire_header *header, const struct zone_tick *tick)
{
	uint64_t end_ns = time_ns(z, tick->head.end_ticks);
	uint64_t start_ns = time_ns(z, tick->head.start_ticks);

	builder_tick(z->builder, &(struct tick){.process = z->process,
					 .stream = builder_string(z->builder,
						 str_from(header->stream[tick->head.stream].name)),
					 .number = tick->head.number,
					 .start_ns = start_ns,
					 .end_ns = end_ns,
					 .thread = thread_of_slot(z, tick->head.slot)});
	z->cut_ticks += (tick->head.flags & ZONEWIRE_TICK_CUT) != 0;
	/* If there are ticks of "frame", those of other streams repeat the same time. */
	if (tick->head.stream != 0 && header->stream[0].ticks != 0)
		return;
	if (z->before_ns == UINT64_MAX)
		z->before_ns = start_ns;
	for (uint32_t i = 0; i < tick->head.delta_count; i++) {
		const struct zonewire_delta *d = &tick->delta[i];
		if (d->node < z->reading.node_count && z->stacks[d->node].i != 0 &&
			has_rows_of(z, tick->head.stream, z->reading.place[d->node].slot))
			add_row(z, d->node, end_ns,
				(struct zone_counts){d->self_ticks, d->entries});
	}
}

static void add_ticks(struct zones *z)
{
	struct zonewire_header header = zone_region_header(&z->region);
	uint64_t position = 0, lost;
	struct zone_tick tick;

	z->before_ns = UINT64_MAX;
	z->slot_stream = xcalloc(z->slot_count + (size_t)1, sizeof(*z->slot_stream));
	for (uint32_t i = 0; i < z->slot_count; i++)
		z->slot_stream[i] = ZONEWIRE_STREAMS;
	while (zone_reader_next_tick(z->reader, &z->region, &position, &tick, &lost))
		add_tick(z, &header, &tick);
	if (z->before_ns == UINT64_MAX)
		z->before_ns = time_ns(z, zone_region_now(&z->region));
}

/* Adds what is outside ticks, and the calls. */
static void add_nodes(struct zones *z)
{
	for (uint32_t i = 1; i < z->reading.node_count; i++) {
		const struct zone_place *place = &z->reading.place[i];
		struct zone_counts counts = z->reading.counts[i];
		function_id caller = {NO_ID};
		if (z->stacks[i].i == 0)
			continue;
		add_row(z, i, z->before_ns, counts);
		if (place->parent < i)
			caller = zone_function(z, z->reading.place[place->parent].zone);
		if (counts.entries)
			builder_arc(
				z->builder, caller, zone_function(z, place->zone), counts.entries);
	}
}

static void add_events_of(struct zones *z, uint32_t slot, struct zone_event *events)
{
	uint64_t position = 0, lost, now = zone_region_now(&z->region);
	size_t count;

	do {
		count = zone_region_events(
			&z->region, slot, &position, now, events, EVENTS_AT_ONCE, &lost);
		z->lost_events += lost;
		for (size_t i = 0; i < count; i++) {
			uint32_t node = events[i].node;
			stack_id stack = {0};
			if (node < z->reading.node_count)
				stack = z->stacks[node];
			builder_zone_event(
				z->builder, z->threads[slot], time_ns(z, events[i].ticks), stack);
		}
	} while (count == EVENTS_AT_ONCE);
}

static void add_events(struct zones *z)
{
	struct zone_event *events = xcalloc(EVENTS_AT_ONCE, sizeof(*events));

	for (uint32_t i = 0; i < z->slot_count; i++)
		add_events_of(z, i, events);
	free(events);
}

/* ---- notes ---- */

static void add_notes(struct zones *z)
{
	struct zonewire_header header = zone_region_header(&z->region);
	uint64_t counters[CAPTURE_COUNTER_COUNT] = {0};
	char last_end[1024];

	for (uint32_t i = 0; i < ZONEWIRE_TROUBLES; i++)
		counters[CAPTURE_ZONE_TROUBLE + i] = header.trouble[i];
	counters[CAPTURE_CUT_TICKS] = z->cut_ticks;
	counters[CAPTURE_LOST_ZONE_EVENTS] = z->lost_events;
	capture_zones_note(z->builder, counters);
	zone_region_last_end(&z->region, last_end, sizeof(last_end));
	if (last_end[0])
		builder_note(z->builder, NOTE_INFO, 1, "%s", last_end);
	if (header.is_off)
		builder_note(z->builder, NOTE_INFO, 1,
			"zones of a program were switched off when it was last looked at");
	if (z->reading.broken)
		builder_note(z->builder, NOTE_BAD_RECORD, z->reading.broken,
			z->reading.broken == 1 ? "zone stack made no sense and was skipped"
					       : "zone stacks made no sense and were skipped");
	if (!zone_region_tells_end(&z->region))
		builder_note(z->builder, NOTE_INCOMPLETE, 1,
			"it is not known when the program ended: open zones took at least as "
			"long as shown");
}

/* ---- */

static void build(struct zones *z)
{
	add_header(z);
	add_threads(z);
	add_stacks(z);
	z->dealt = xcalloc(z->reading.node_count + (size_t)1, sizeof(*z->dealt));
	add_ticks(z);
	add_nodes(z);
	add_events(z);
	add_notes(z);
	free(z->threads);
	free(z->slot_stream);
	free(z->functions);
	free(z->stacks);
	free(z->dealt);
}

static struct error *read_region(struct zones *z, const uint8_t *data)
{
	const char *problem = zone_region_open(&z->region, data, z->input->size);

	if (problem)
		return error_new(ERROR_INPUT, "%s: %s", z->input->name, problem);
	z->region.ended_ticks = zone_region_last_tick(&z->region);
	z->reader = zone_reader_create();
	if (z->reader == NULL || !zone_reader_read(z->reader, &z->region, &z->reading)) {
		zone_reader_destroy(z->reader);
		return error_new(ERROR_INPUT, "%s: does not fit into memory", z->input->name);
	}
	build(z);
	zone_reader_destroy(z->reader);
	return NULL;
}

static struct error *zones_read(const struct reader_input *input, struct builder *builder)
{
	struct zones z = {.input = input, .builder = builder};
	uint64_t *aligned = NULL;

	/* Numbers are read in place, so they must be aligned. */
	if ((uintptr_t)input->data % sizeof(*aligned) != 0) {
		aligned = xcalloc(input->size / sizeof(*aligned) + 1, sizeof(*aligned));
		memcpy(aligned, input->data, input->size);
	}
	struct error *err = read_region(&z, aligned ? (const uint8_t *)aligned : input->data);
	free(aligned);
	return err;
}

static int zones_bid(const uint8_t *data, size_t size)
{
	uint64_t magic;

	if (size < sizeof(magic))
		return 0;
	memcpy(&magic, data, sizeof(magic));
	return magic == ZONEWIRE_MAGIC ? 100 : 0;
}

const struct reader reader_zones = {
	.name = "zones",
	.summary = "a program's zones memory: sonde live --save, SONDE_ZONES=file=",
	.bid = zones_bid,
	.read = zones_read,
};
