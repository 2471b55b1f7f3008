/* What a history knows about its region, and its own properties. */
#include <stdlib.h>
#include <string.h>

#include "zonereport/history_state.h"

/* Maximum length of a stored name or path. */
enum { STRING_BYTES = 1024 };

static char *learn_string(const struct zone_region *region, uint32_t offset)
{
	char copy[STRING_BYTES];

	return strdup(zone_region_string(region, offset, copy, sizeof(copy)));
}

static bool learn_zone(const struct zone_region *region, uint32_t id, struct zone_info *info)
{
	struct zonewire_zone zone;
	char *name, *file, *module;

	zone_region_zone(region, id, &zone);
	name = learn_string(region, zone.name);
	file = learn_string(region, zone.file);
	module = learn_string(region, zone.module);
	if (!name || !file || !module) {
		free(name);
		free(file);
		free(module);
		return false;
	}
	*info = (struct zone_info){name, file, zone.line, zone.code, module};
	return true;
}

/* Replaces the string, if there is a text and memory for it. */
static void replace_string(const char **old, const char *text)
{
	char *copy = text ? strdup(text) : NULL;

	if (copy) {
		free((char *)*old);
		*old = copy;
	}
}

static void take_name(struct zone_info *info, const struct zone_function *function)
{
	replace_string(&info->name, function->name);
	replace_string(&info->module, function->module);
	if (function->file) {
		replace_string(&info->file, function->file);
		info->line = function->line;
	}
}

/*
 * Requests names for zones from that one on that are functions; all at once, because it may take
 * long.
 */
static void name_functions(struct zone_history *history, uint32_t from)
{
	struct zone_function *function;
	size_t count = 0;

	if (!history->namer.name || from >= history->zone_count)
		return;
	function = calloc(history->zone_count - from, sizeof(*function));
	for (uint32_t i = from; function && i < history->zone_count; i++)
		if (history->zone[i].code)
			function[count++].code = history->zone[i].code;
	if (count)
		history->namer.name(history->namer.context, function, count);
	count = 0;
	for (uint32_t i = from; function && i < history->zone_count; i++)
		if (history->zone[i].code)
			take_name(&history->zone[i], &function[count++]);
	free(function);
}

static bool learn_zones(struct zone_history *history, const struct zone_region *region)
{
	uint32_t count = zone_region_zone_count(region), before = history->zone_count;
	bool is_whole = true;

	if (count > history->zone_capacity) {
		size_t bytes = (size_t)count * 2 * sizeof(*history->zone);
		struct zone_info *grown = realloc(history->zone, bytes);

		if (!grown)
			return false;
		history->zone = grown;
		history->zone_capacity = count * 2;
	}
	while (is_whole && history->zone_count < count) {
		is_whole = learn_zone(
			region, history->zone_count, &history->zone[history->zone_count]);
		history->zone_count += is_whole;
	}
	name_functions(history, before);
	return is_whole;
}

void zone_history_set_namer(struct zone_history *history, struct zone_namer namer)
{
	history->namer = namer;
}

bool zone_history_learn(struct zone_history *history, const struct zone_region *region)
{
	const uint64_t many = UINT64_C(1) << 30;
	struct zonewire_header header = zone_region_header(region);

	history->tick_ms = (double)zone_region_duration_ns(region, many) / 1e6 / (double)many;
	memcpy(history->trouble, header.trouble, sizeof(history->trouble));
	history->trouble_open = header.trouble_open;
	history->trouble_ended = header.trouble_ended;
	history->end_is_proven = zone_region_end_is_proven(region);
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
		return (struct zone_info){.name = "", .file = "", .module = ""};
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
