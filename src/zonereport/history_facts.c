/* What a history has learnt of its region, and what it tells of itself. */
#include <stdlib.h>
#include <string.h>

#include "zonereport/history_state.h"

/* Longest name or path that is kept. */
enum { STRING_BYTES = 1024 };

static char *learn_string(const struct zone_region *region, uint32_t offset)
{
	char copy[STRING_BYTES];

	return strdup(zone_region_string(region, offset, copy, sizeof(copy)));
}

static bool learn_zone(const struct zone_region *region, uint32_t id, struct zone_info *info)
{
	struct zonewire_zone zone;
	char *name, *file;

	zone_region_zone(region, id, &zone);
	name = learn_string(region, zone.name);
	file = learn_string(region, zone.file);
	if (!name || !file) {
		free(name);
		free(file);
		return false;
	}
	*info = (struct zone_info){name, file, zone.line, zone.code};
	return true;
}

static bool learn_zones(struct zone_history *history, const struct zone_region *region)
{
	uint32_t count = zone_region_zone_count(region);

	if (count > history->zone_capacity) {
		size_t bytes = (size_t)count * 2 * sizeof(*history->zone);
		struct zone_info *grown = realloc(history->zone, bytes);

		if (!grown)
			return false;
		history->zone = grown;
		history->zone_capacity = count * 2;
	}
	while (history->zone_count < count) {
		if (!learn_zone(region, history->zone_count, &history->zone[history->zone_count]))
			return false;
		history->zone_count++;
	}
	return true;
}

bool zone_history_learn(struct zone_history *history, const struct zone_region *region)
{
	const uint64_t many = UINT64_C(1) << 30;
	struct zonewire_header header = zone_region_header(region);

	history->tick_ms = (double)zone_region_duration_ns(region, many) / 1e6 / (double)many;
	memcpy(history->trouble, header.trouble, sizeof(history->trouble));
	history->trouble_open = header.trouble_open;
	history->trouble_ended = header.trouble_ended;
	return learn_zones(history, region);
}

uint32_t zone_history_stream(const struct zone_history *history)
{
	return history->stream;
}

uint32_t zone_history_zone_count(const struct zone_history *history)
{
	return history->zone_count;
}

struct zone_info zone_history_zone(const struct zone_history *history, uint32_t id)
{
	if (id >= history->zone_count)
		return (struct zone_info){.name = "", .file = ""};
	return history->zone[id];
}

uint32_t zone_history_node_count(const struct zone_history *history)
{
	return history->node_count;
}

size_t zone_history_frame_count(const struct zone_history *history)
{
	return history->ring.count;
}

uint64_t zone_history_frames_added(const struct zone_history *history)
{
	return history->frames_added;
}

bool zone_history_frame(const struct zone_history *history, size_t ago, struct zone_frame *frame)
{
	const struct zonewire_tick *tick;

	if (ago >= history->ring.count)
		return false;
	tick = frame_ring_get(&history->ring, ago);
	*frame = (struct zone_frame){.number = tick->number,
		.start_ticks = tick->start_ticks,
		.end_ticks = tick->end_ticks,
		.ms = zone_history_ms(history, tick->end_ticks - tick->start_ticks),
		.slot = tick->slot,
		.flags = tick->flags,
		.delta_count = tick->delta_count,
		.delta = frame_deltas(tick)};
	return true;
}

double zone_history_frame_ms(const struct zone_history *history, unsigned average)
{
	struct zone_frame last;

	if (average > 0 && average < ZONE_AVERAGES)
		return history->frames_added ? history->frame_ms[average - 1] : 0;
	return zone_history_frame(history, 0, &last) ? last.ms : 0;
}

double zone_history_ms(const struct zone_history *history, uint64_t ticks)
{
	return (double)ticks * history->tick_ms;
}
