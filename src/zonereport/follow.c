/*
 * Region → ticks → history.  The tick ring is read from the last position; for a program without
 * ticks, differences of readings replace ticks.  The first pass over a ring finds its oldest part
 * overwritten: that is the past, not a loss.
 */
#include "zonereport/follow.h"

#include <stdlib.h>

#include "zonereport/difference.h"

/* The maximum per call, however fast the program writes: a whole ring of the smallest records. */
enum { TICKS_MAX = 1 << 17 };

struct zone_follow {
	const struct zone_region *region;
	struct zone_reader *reader;
	struct zone_difference *difference;
	struct zone_history *history;
	struct zone_reading reading;
	struct zone_namer namer;
	uint32_t base;
	bool is_auto;
	bool is_fresh; /* nothing was read for this base yet, or calls were skipped */
	uint64_t position, lost_bytes;
};

struct zone_follow *zone_follow_create(const struct zone_region *region)
{
	struct zone_follow *follow = calloc(1, sizeof(*follow));

	if (!follow)
		return NULL;
	follow->region = region;
	follow->reader = zone_reader_create();
	if (!follow->reader || !zone_follow_set_base(follow, ZONE_BASE_AUTO)) {
		zone_follow_destroy(follow);
		return NULL;
	}
	return follow;
}

void zone_follow_destroy(struct zone_follow *follow)
{
	if (!follow)
		return;
	zone_reader_destroy(follow->reader);
	zone_difference_destroy(follow->difference);
	zone_history_destroy(follow->history);
	free(follow);
}

void zone_follow_set_namer(struct zone_follow *follow, struct zone_namer namer)
{
	follow->namer = namer;
	zone_history_set_namer(follow->history, namer);
}

static bool has_frames(const struct zone_follow *follow)
{
	return zone_region_header(follow->region).stream[0].ticks > 0;
}

static uint32_t best_base(const struct zone_follow *follow)
{
	if (has_frames(follow))
		return 0;
	return zone_region_header(follow->region).is_saved ? ZONE_BASE_RUN : ZONE_BASE_LOOKS;
}

bool zone_follow_set_base(struct zone_follow *follow, uint32_t base)
{
	bool is_auto = base == ZONE_BASE_AUTO;

	if (is_auto)
		base = best_base(follow);
	/* Ticks made from readings belong to stream 0, like differences. */
	struct zone_history *history =
		zone_history_create(base < ZONEWIRE_STREAMS ? base : 0, ZONE_HISTORY_BYTES);
	struct zone_difference *difference = zone_difference_create();

	if (!history || !difference) {
		zone_history_destroy(history);
		zone_difference_destroy(difference);
		return false;
	}
	zone_history_set_namer(history, follow->namer);
	zone_history_destroy(follow->history);
	zone_difference_destroy(follow->difference);
	follow->history = history;
	follow->difference = difference;
	follow->base = base;
	follow->is_auto = is_auto;
	follow->is_fresh = true;
	follow->position = 0;
	return true;
}

uint32_t zone_follow_base(const struct zone_follow *follow)
{
	return follow->base;
}

/* The tick may be later than the reading, and have nodes unknown to it. */
static bool know_nodes(struct zone_follow *follow, const struct zone_tick *tick)
{
	for (uint32_t i = 0; i < tick->head.delta_count; i++)
		if (tick->delta[i].node >= follow->reading.node_count)
			return zone_reader_read(follow->reader, follow->region, &follow->reading) &&
			       zone_history_learn(follow->history, follow->region);
	return true;
}

static bool look_at_ring(struct zone_follow *follow)
{
	struct zone_tick tick;
	uint64_t lost;
	bool is_whole = true;

	for (int i = 0; i < TICKS_MAX; i++) {
		bool is_there = zone_reader_next_tick(
			follow->reader, follow->region, &follow->position, &tick, &lost);

		if (!follow->is_fresh)
			follow->lost_bytes += lost;
		if (!is_there)
			break;
		is_whole &= know_nodes(follow, &tick) &&
			    zone_history_add(follow->history, &follow->reading, &tick);
	}
	return is_whole;
}

static bool look_at_difference(struct zone_follow *follow)
{
	struct zone_tick tick;

	if (follow->is_fresh)
		return zone_difference_skip(follow->difference, &follow->reading);
	if (!zone_difference_take(follow->difference, &follow->reading, &tick))
		return true; /* the next one includes this activity */
	return zone_history_add(follow->history, &follow->reading, &tick);
}

/* Makes one tick of everything in the counters. */
static bool look_at_run(struct zone_follow *follow)
{
	const struct zone_reading *reading = &follow->reading;
	struct zonewire_delta *delta = calloc(reading->node_count + (size_t)1, sizeof(*delta));
	struct zone_tick tick = {.delta = delta, .head.slot = ZONEWIRE_SLOT_NOBODY};
	uint64_t start = follow->region->header.start_ticks;

	if (!delta)
		return false;
	for (uint32_t i = 1; i < reading->node_count; i++) {
		struct zone_counts counts = reading->counts[i];

		if (counts.entries || counts.self_ticks)
			delta[tick.head.delta_count++] = (struct zonewire_delta){.node = i,
				.entries = counts.entries > UINT32_MAX ? UINT32_MAX
								       : (uint32_t)counts.entries,
				.self_ticks = counts.self_ticks};
	}
	tick.head.start_ticks = start;
	tick.head.end_ticks = reading->now > start ? reading->now : start;
	zone_history_clear(follow->history);
	bool is_whole = zone_history_add(follow->history, reading, &tick);

	free(delta);
	return is_whole;
}

bool zone_follow_look(struct zone_follow *follow)
{
	bool is_whole = true;

	if (follow->is_auto && follow->base >= ZONEWIRE_STREAMS && has_frames(follow))
		is_whole = zone_follow_set_base(follow, ZONE_BASE_AUTO);
	is_whole &= zone_reader_read(follow->reader, follow->region, &follow->reading);
	is_whole &= zone_history_learn(follow->history, follow->region);
	if (follow->base == ZONE_BASE_RUN)
		is_whole &= look_at_run(follow);
	else if (follow->base == ZONE_BASE_LOOKS)
		is_whole &= look_at_difference(follow);
	else
		is_whole &= look_at_ring(follow);
	follow->is_fresh = false;
	return is_whole;
}

void zone_follow_resume(struct zone_follow *follow)
{
	follow->is_fresh = true;
}

struct zone_history *zone_follow_history(const struct zone_follow *follow)
{
	return follow->history;
}

const struct zone_reading *zone_follow_reading(const struct zone_follow *follow)
{
	return &follow->reading;
}

uint64_t zone_follow_lost_bytes(const struct zone_follow *follow)
{
	return follow->lost_bytes;
}
