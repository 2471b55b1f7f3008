/*
 * Frames of zones and their averages: see history.h.
 *
 * Averages are exponential, v = v k + x (1 - k) with k = 0.1^(dt/T) for each frame, where T is the
 * time that holds 90 % of the weight. k depends on the frame's own duration, so averages do not
 * depend on how time is divided into frames.  An inactive node only decays, and decays multiply, so
 * the decay is applied when the node is next used, for all the time since.  The first three frames,
 * during which a program warms up, set averages directly (as in IProf; unlike there, this includes
 * the frame's own duration, which would otherwise be wrong for seconds).
 */
#include "zonereport/history.h"

#include <stdlib.h>
#include <string.h>

#include "zonereport/figures.h"
#include "zonereport/history_state.h"
#include "zonereport/rows.h"

/* Maximum length of a stored name or path. */
enum { STRING_BYTES = 1024 };

/* The last seconds, with 90 % of an average's weight. */
static const double average_seconds[EXPONENTIAL] = {0.8, 2.5};

struct zone_history *zone_history_create(uint32_t stream, size_t bytes)
{
	struct zone_history *history = calloc(1, sizeof(*history));

	if (!history)
		return NULL;
	history->stream = stream;
	history->tick_ms = 1e-6;
	history->node_count = history->node_scanned = 1;
	if (frame_ring_init(&history->ring, bytes))
		return history;
	free(history);
	return NULL;
}

void zone_history_destroy(struct zone_history *history)
{
	if (!history)
		return;
	for (uint32_t i = 0; i < history->zone_count; i++) {
		free((char *)history->zone[i].name);
		free((char *)history->zone[i].file);
		free((char *)history->zone[i].module);
	}
	free(history->zone);
	free(history->node);
	free(history->touched);
	free(history->frame_slots.bits);
	frame_ring_deinit(&history->ring);
	free(history);
}

void zone_history_clear(struct zone_history *history)
{
	frame_ring_clear(&history->ring);
	history->frames_added = history->frames_lost = 0;
	history->deltas_cut = history->bytes_lost = 0;
	history->seconds = 0;
	/* Node 0 does not exist, and without other nodes there is no array. */
	for (uint32_t i = 1; i < history->node_count; i++)
		history->node[i].frame = 0;
}

/* ---- nodes ---- */

/* Makes room for that many nodes, initially zero. */
static bool grow_nodes(struct zone_history *history, uint32_t count)
{
	uint32_t wanted = rows_wanted(history->node_capacity, count);

	/* After an earlier failure to grow all arrays, they grow again. */
	if (wanted != history->node_capacity &&
		(!rows_grow(
			 &history->node, sizeof(*history->node), history->node_capacity, wanted) ||
			!rows_grow(&history->touched, sizeof(*history->touched), 0, wanted)))
		return false;
	history->node_capacity = wanted;
	if (count > history->node_count)
		history->node_count = count;
	return true;
}

static void learn_node(struct zone_history *history, uint32_t number, struct zone_place place)
{
	struct history_node *node = &history->node[number];
	uint32_t above = place.parent;

	if (node->place.zone != 0 || place.zone == 0)
		return;
	node->place = place;
	if (place.parent == number)
		return;
	while (history->node[above].place.zone != place.zone &&
		history->node[above].place.parent != above)
		above = history->node[above].place.parent;
	if (history->node[above].place.zone != place.zone)
		return;
	node->same_above = above;
	node->recursion = history->node[above].recursion + 1;
}

/* False: the parent of a node is unknown. */
static bool learn_range(struct zone_history *history, const struct zone_reading *reading,
	uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		uint32_t parent = reading->place[i].parent;

		if (reading->place[i].zone != 0 && parent != i &&
			history->node[parent].place.zone == 0)
			return false;
		learn_node(history, i, reading->place[i]);
	}
	return true;
}

/*
 * Learns all nodes of the tick.  Parents have lower numbers, so nodes are learnt in order up to the
 * highest.  A node that did not exist yet when its neighbours were learnt needs a second try.
 */
static bool learn_nodes(struct zone_history *history, const struct zone_reading *reading,
	const struct zone_tick *tick)
{
	uint32_t from = history->node_scanned, to = from;

	if (!grow_nodes(history, reading->node_count))
		return false;
	for (uint32_t i = 0; i < tick->head.delta_count; i++) {
		uint32_t number = tick->delta[i].node;

		if (number >= reading->node_count)
			continue;
		if (number >= to)
			to = number + 1;
		else if (number < from && history->node[number].place.zone == 0)
			from = 1;
	}
	if (!learn_range(history, reading, from, to))
		learn_range(history, reading, 1, to);
	history->node_scanned = to;
	return true;
}

/* ---- averages ---- */

/* The rest of a node's average after the frames up to this one, in which it was inactive. */
static double left_of(const struct zone_history *history, const struct history_node *node,
	uint64_t frame, unsigned average)
{
	if (node->frame == frame)
		return 1;
	/* One of the frames that set averages directly has set it to 0. */
	if (node->frame < DIRECT_FRAMES)
		return 0;
	double gap = history->seconds - node->seconds;

	return gap > 0 && gap == history->gap_seconds
		       ? history->gap_left[average]
		       : figure_tenth_power(gap / average_seconds[average]);
}

static void note_gap(struct zone_history *history, const struct history_node *node)
{
	double gap = history->seconds - node->seconds;

	if (gap == history->gap_seconds)
		return;
	history->gap_seconds = gap;
	for (unsigned a = 0; a < EXPONENTIAL; a++)
		history->gap_left[a] = figure_tenth_power(gap / average_seconds[a]);
}

struct node_value history_average(
	const struct zone_history *history, const struct history_node *node, unsigned average)
{
	double left = node->frame ? left_of(history, node, history->frames_added, average) : 0;

	return (struct node_value){.self = node->self[average] * left,
		.count = node->count[average] * left,
		.self_square = node->self_square[average] * left,
		.hier_square = node->hier_square[average] * left};
}

/* Updates the node to the frame being added, as if it was inactive in it. */
static void touch(struct zone_history *history, uint32_t number)
{
	struct history_node *node = &history->node[number];

	note_gap(history, node);
	for (unsigned a = 0; a < EXPONENTIAL; a++) {
		struct node_value value = {0};

		if (history->frames_added > DIRECT_FRAMES)
			value = history_average(history, node, a);
		node->self[a] = value.self;
		node->count[a] = value.count;
		node->self_square[a] = value.self_square;
		node->hier_square[a] = value.hier_square;
	}
	node->frame = history->frames_added;
	node->seconds = history->seconds;
	node->hier_now = 0;
	history->touched[history->touched_count++] = number;
}

/* The same for all nodes above it. */
static void touch_up(struct zone_history *history, uint32_t number)
{
	while (history->node[number].frame != history->frames_added) {
		touch(history, number);
		number = history->node[number].place.parent;
	}
}

static int by_number_down(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x < y) - (x > y);
}

/* Children have higher numbers than their parents, so descending order completes each node. */
static void add_hier(struct zone_history *history, const double *weight)
{
	qsort(history->touched, history->touched_count, sizeof(*history->touched), by_number_down);
	for (uint32_t i = 0; i < history->touched_count; i++) {
		struct history_node *node = &history->node[history->touched[i]];
		double hier = node->hier_now;

		for (unsigned a = 0; a < EXPONENTIAL; a++)
			node->hier_square[a] += hier * hier * weight[a];
		if (node->place.parent != history->touched[i])
			history->node[node->place.parent].hier_now += hier;
	}
}

static void add_deltas(
	struct zone_history *history, const struct zone_tick *tick, const double *weight)
{
	history->touched_count = 0;
	for (uint32_t i = 0; i < tick->head.delta_count; i++) {
		const struct zonewire_delta *delta = &tick->delta[i];
		double self = (double)delta->self_ticks;
		struct history_node *node;

		if (delta->node >= history->node_count ||
			history->node[delta->node].place.zone == 0)
			continue;
		touch_up(history, delta->node);
		node = &history->node[delta->node];
		node->hier_now += self;
		for (unsigned a = 0; a < EXPONENTIAL; a++) {
			node->self[a] += self * weight[a];
			node->count[a] += delta->entries * weight[a];
			node->self_square[a] += self * self * weight[a];
		}
	}
	add_hier(history, weight);
}

/* Adds the frame's own duration, and computes its weight in each average. */
static void add_time(struct zone_history *history, double ms, double *weight)
{
	/* Even a frame without duration counts, as in IProf. */
	double seconds = ms > 0 ? ms / 1e3 : 1e-3;

	history->frames_added++;
	history->seconds += seconds;
	for (unsigned a = 0; a < EXPONENTIAL; a++) {
		weight[a] = 1;
		if (history->frames_added > DIRECT_FRAMES)
			weight[a] -= figure_tenth_power(seconds / average_seconds[a]);
		history->frame_ms[a] += (ms - history->frame_ms[a]) * weight[a];
	}
}

static bool ends_frames(const struct zone_history *history, uint32_t slot)
{
	return slot / 64 < history->frame_slots.words &&
	       (history->frame_slots.bits[slot / 64] >> slot % 64 & 1);
}

/*
 * If there is no memory for a slot, it is unknown whether it ends frames; its time in zones is
 * shown anyway.
 */
static void note_frame_slot(struct zone_history *history, uint32_t slot)
{
	uint32_t words = slot / 64 + 1;

	if (slot == ZONEWIRE_SLOT_NOBODY || ends_frames(history, slot))
		return;
	if (words > history->frame_slots.words) {
		if (!rows_grow(&history->frame_slots.bits, sizeof(*history->frame_slots.bits),
			    history->frame_slots.words, words))
			return;
		history->frame_slots.words = words;
	}
	history->frame_slots.bits[slot / 64] |= (uint64_t)1 << slot % 64;
	history->frame_slots.count++;
}

bool history_is_frameless(const struct zone_history *history, uint32_t node, uint32_t slot)
{
	const struct zone_place *place = &history->node[node].place;

	return slot == ZONE_SLOT_ALL && history->frame_slots.count > 0 && place->parent == node &&
	       !ends_frames(history, place->slot);
}

bool zone_history_add(struct zone_history *history, const struct zone_reading *reading,
	const struct zone_tick *tick)
{
	double ms = zone_history_ms(history, tick->head.end_ticks - tick->head.start_ticks);
	double weight[EXPONENTIAL];

	note_frame_slot(history, tick->head.slot);
	if (tick->head.stream != history->stream || history->is_paused || history->is_frozen)
		return true;
	if (!learn_nodes(history, reading, tick)) {
		history->frames_lost++;
		return false;
	}
	add_time(history, ms, weight);
	add_deltas(history, tick, weight);
	history->deltas_cut += frame_ring_add(&history->ring, &tick->head, tick->delta);
	if (history->freeze_over_ms > 0 && ms > history->freeze_over_ms)
		history->is_frozen = true;
	return true;
}

void zone_history_lost(struct zone_history *history, uint64_t bytes)
{
	history->bytes_lost += bytes;
}

/* ---- paused and frozen ---- */

void zone_history_pause(struct zone_history *history, bool is_paused)
{
	history->is_paused = is_paused;
}

bool zone_history_is_paused(const struct zone_history *history)
{
	return history->is_paused;
}

void zone_history_freeze_over(struct zone_history *history, double ms)
{
	history->freeze_over_ms = ms;
}

void zone_history_set_frozen(struct zone_history *history, bool is_frozen)
{
	history->is_frozen = is_frozen;
}

bool zone_history_is_frozen(const struct zone_history *history)
{
	return history->is_frozen;
}

/* ---- What it knows of its region, and its own properties */

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
