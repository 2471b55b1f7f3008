/*
 * The tick between two readings.  Counters only grow, so what happened is their difference; nodes
 * that are the same in both are left out.
 */
#include "zonereport/difference.h"

#include <stdlib.h>
#include <string.h>

struct zone_difference {
	struct zone_counts *last; /* [capacity] as of the last reading */
	uint32_t capacity;
	uint64_t now;
	struct zonewire_delta *delta; /* [delta_capacity] */
	uint32_t delta_capacity;
	uint64_t number;
	bool has_last, is_after_gap;
};

struct zone_difference *zone_difference_create(void)
{
	return calloc(1, sizeof(struct zone_difference));
}

void zone_difference_destroy(struct zone_difference *difference)
{
	if (!difference)
		return;
	free(difference->last);
	free(difference->delta);
	free(difference);
}

/* Room for so many counts, zero where they are new. */
static bool grow_last(struct zone_difference *d, uint32_t count)
{
	uint32_t wanted = d->capacity ? d->capacity : 256;
	struct zone_counts *grown;

	while (wanted < count)
		wanted *= 2;
	if (wanted == d->capacity)
		return true;
	grown = realloc(d->last, wanted * sizeof(*grown));
	if (!grown)
		return false;
	memset(grown + d->capacity, 0, (wanted - d->capacity) * sizeof(*grown));
	d->last = grown;
	d->capacity = wanted;
	return true;
}

static bool is_same(const struct zone_counts *a, const struct zone_counts *b)
{
	return a->self_ticks == b->self_ticks && a->entries == b->entries;
}

static bool grow_deltas(struct zone_difference *d, const struct zone_reading *reading)
{
	uint32_t needed = 0, wanted = d->delta_capacity ? d->delta_capacity : 64;
	struct zonewire_delta *grown;

	for (uint32_t i = 1; i < reading->node_count; i++)
		needed += !is_same(&reading->counts[i], &d->last[i]);
	while (wanted < needed)
		wanted *= 2;
	if (wanted == d->delta_capacity)
		return true;
	grown = realloc(d->delta, wanted * sizeof(*grown));
	if (!grown)
		return false;
	d->delta = grown;
	d->delta_capacity = wanted;
	return true;
}

static uint32_t put_deltas(struct zone_difference *d, const struct zone_reading *reading)
{
	uint32_t count = 0;

	for (uint32_t i = 1; i < reading->node_count; i++) {
		const struct zone_counts *now = &reading->counts[i], *last = &d->last[i];
		uint64_t entries = now->entries - last->entries;

		if (is_same(now, last))
			continue;
		d->delta[count++] = (struct zonewire_delta){.node = i,
			.entries = entries < UINT32_MAX ? (uint32_t)entries : UINT32_MAX,
			.self_ticks = now->self_ticks - last->self_ticks};
	}
	return count;
}

static void remember(struct zone_difference *d, const struct zone_reading *reading)
{
	memcpy(d->last, reading->counts, reading->node_count * sizeof(*d->last));
	d->now = reading->now;
	d->has_last = true;
}

void zone_difference_start(struct zone_difference *difference, uint64_t ticks)
{
	if (difference->last)
		memset(difference->last, 0, difference->capacity * sizeof(*difference->last));
	difference->now = ticks;
	difference->number = 0;
	difference->has_last = true;
	difference->is_after_gap = false;
}

bool zone_difference_take(struct zone_difference *difference, const struct zone_reading *reading,
	struct zone_tick *tick)
{
	struct zone_difference *d = difference;

	if (!grow_last(d, reading->node_count))
		return false;
	if (!d->has_last) {
		remember(d, reading);
		return false;
	}
	if (!grow_deltas(d, reading))
		return false;
	*tick = (struct zone_tick){.delta = d->delta,
		.head = {.number = d->number++,
			.start_ticks = d->now,
			.end_ticks = reading->now > d->now ? reading->now : d->now,
			.delta_count = put_deltas(d, reading),
			.flags = d->is_after_gap ? ZONEWIRE_TICK_AFTER_GAP : 0}};
	tick->head.bytes =
		(uint32_t)(sizeof(tick->head) + tick->head.delta_count * sizeof(*tick->delta));
	d->is_after_gap = false;
	remember(d, reading);
	return true;
}

bool zone_difference_skip(struct zone_difference *difference, const struct zone_reading *reading)
{
	if (!grow_last(difference, reading->node_count))
		return false;
	remember(difference, reading);
	difference->is_after_gap = true;
	return true;
}
