/*
 * Computes the tick between two readings.  Counters only grow, so a tick is their difference; nodes
 * that are equal in both are left out.  For consecutive readings, only the nodes that the reader
 * reports as changed are compared, as many do not change.
 */
#include "zonereport/difference.h"

#include <stdlib.h>
#include <string.h>

#include "zonereport/rows.h"

struct zone_difference {
	struct zone_counts *last; /* [capacity] as of the last reading */
	uint32_t capacity;
	uint64_t now, serial;	      /* of the last reading; serial 0: none */
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

/* Makes room for the counts of new nodes, initially zero. */
static bool grow_last(struct zone_difference *d, uint32_t count)
{
	uint32_t wanted = rows_wanted(d->capacity, count);

	if (wanted != d->capacity && !rows_grow(&d->last, sizeof(*d->last), d->capacity, wanted))
		return false;
	d->capacity = wanted;
	return true;
}

static bool is_same(const struct zone_counts *a, const struct zone_counts *b)
{
	return a->self_ticks == b->self_ticks && a->entries == b->entries;
}

/* The nodes to compare, by index in a list: all nodes, or those that changed. */
struct candidates {
	const uint32_t *changed; /* NULL: all */
	uint32_t count;
};

static struct candidates candidates_of(
	const struct zone_difference *d, const struct zone_reading *reading)
{
	if (d->serial != 0 && reading->serial == d->serial + 1)
		return (struct candidates){reading->changed, reading->changed_count};
	return (struct candidates){NULL, reading->node_count};
}

static uint32_t candidate(const struct candidates *candidates, uint32_t index)
{
	return candidates->changed ? candidates->changed[index] : index;
}

static bool grow_deltas(struct zone_difference *d, uint32_t needed)
{
	uint32_t wanted = d->delta_capacity ? d->delta_capacity : 64;
	struct zonewire_delta *grown;

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

static int by_node(const void *a, const void *b)
{
	const struct zonewire_delta *x = a, *y = b;

	return (x->node > y->node) - (x->node < y->node);
}

/* Writes deltas of all candidates that changed; there must be room. */
static uint32_t put_deltas(struct zone_difference *d, const struct zone_reading *reading,
	const struct candidates *candidates)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < candidates->count; i++) {
		uint32_t node = candidate(candidates, i);
		const struct zone_counts *now = &reading->counts[node], *last = &d->last[node];
		uint64_t entries = now->entries - last->entries;

		if (is_same(now, last))
			continue;
		d->delta[count++] = (struct zonewire_delta){.node = node,
			.entries = entries < UINT32_MAX ? (uint32_t)entries : UINT32_MAX,
			.self_ticks = now->self_ticks - last->self_ticks};
	}
	if (candidates->changed)
		qsort(d->delta, count, sizeof(*d->delta), by_node);
	return count;
}

static uint32_t count_deltas(const struct zone_difference *d, const struct zone_reading *reading,
	const struct candidates *candidates)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < candidates->count; i++) {
		uint32_t node = candidate(candidates, i);

		count += !is_same(&reading->counts[node], &d->last[node]);
	}
	return count;
}

static void remember(struct zone_difference *d, const struct zone_reading *reading,
	const struct candidates *candidates)
{
	for (uint32_t i = 0; i < candidates->count; i++) {
		uint32_t node = candidate(candidates, i);

		d->last[node] = reading->counts[node];
	}
	d->now = reading->now;
	d->serial = reading->serial;
	d->has_last = true;
}

void zone_difference_start(struct zone_difference *difference, uint64_t ticks)
{
	if (difference->last)
		memset(difference->last, 0, difference->capacity * sizeof(*difference->last));
	difference->now = ticks;
	difference->serial = 0;
	difference->number = 0;
	difference->has_last = true;
	difference->is_after_gap = false;
}

bool zone_difference_take(struct zone_difference *difference, const struct zone_reading *reading,
	struct zone_tick *tick)
{
	struct zone_difference *d = difference;
	struct candidates candidates = candidates_of(d, reading);

	if (!grow_last(d, reading->node_count))
		return false;
	if (!d->has_last) {
		remember(d, reading, &candidates);
		return false;
	}
	if (!grow_deltas(d, count_deltas(d, reading, &candidates)))
		return false;
	*tick = (struct zone_tick){.delta = d->delta,
		.head = {.number = d->number++,
			.slot = ZONEWIRE_SLOT_NOBODY,
			.start_ticks = d->now,
			.end_ticks = reading->now > d->now ? reading->now : d->now,
			.delta_count = put_deltas(d, reading, &candidates),
			.flags = d->is_after_gap ? ZONEWIRE_TICK_AFTER_GAP : 0}};
	tick->head.bytes =
		(uint32_t)(sizeof(tick->head) + tick->head.delta_count * sizeof(*tick->delta));
	d->is_after_gap = false;
	remember(d, reading, &candidates);
	return true;
}

bool zone_difference_skip(struct zone_difference *difference, const struct zone_reading *reading)
{
	struct candidates candidates = candidates_of(difference, reading);

	if (!grow_last(difference, reading->node_count))
		return false;
	remember(difference, reading, &candidates);
	difference->is_after_gap = true;
	return true;
}
