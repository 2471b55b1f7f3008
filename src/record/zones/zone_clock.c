/*
 * Two clocks beside each other.  See zone_clock.h.
 *
 * Where a reading was interrupted (the two readings of the ticks around that of the time are far
 * apart) it is repeated, and the closest is taken.
 */
#include "record/zones/zone_clock.h"

#include <string.h>

#include "base/clock.h"

/* Between readings. */
#define LOOK_NS	    (SECOND_NS / 200)
#define TRIES	    5
#define GOOD_NS	    100 /* a reading as close as that need not be repeated */
#define RECENT_KEEP 32	/* pairs that stay when there is no room */

__extension__ typedef unsigned __int128 wide;

void zone_clock_init(struct zone_clock *c, const struct zone_region *region)
{
	const struct zonewire_header *h = &region->header;

	*c = (struct zone_clock){.region = region, .count = 1};
	c->pairs[0] = (struct zone_clock_pair){h->start_ticks, h->start_monotonic_ns};
}

static struct zone_clock_pair read_both(const struct zone_region *region)
{
	struct zone_clock_pair best = {0};
	uint64_t best_width = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t before = zone_region_now(region);
		uint64_t time_ns = clock_monotonic_ns();
		uint64_t width = zone_region_now(region) - before;

		if (width >= best_width)
			continue;
		best_width = width;
		best = (struct zone_clock_pair){before + width / 2, time_ns};
		if (zone_region_duration_ns(region, width) <= GOOD_NS)
			break;
	}
	return best;
}

/* A clock of the program's own has nothing to do with time, and one that has ended stands still. */
static bool goes_with_time(const struct zone_region *region)
{
	return region->header.clock != ZONEWIRE_CLOCK_CALLED && !region->ended_ticks;
}

void zone_clock_look(struct zone_clock *c)
{
	const struct zone_clock_pair *last = &c->pairs[c->count - 1];

	if (!goes_with_time(c->region) ||
		(c->count > 1 && clock_monotonic_ns() < last->time_ns + LOOK_NS))
		return;
	struct zone_clock_pair pair = read_both(c->region);

	if (pair.ticks <= last->ticks || pair.time_ns <= last->time_ns)
		return;
	if (c->count == ZONE_CLOCK_PAIRS) {
		/* The first tells the rate over all of the run. */
		memmove(c->pairs + 1, c->pairs + ZONE_CLOCK_PAIRS - RECENT_KEEP,
			RECENT_KEEP * sizeof(c->pairs[0]));
		c->count = 1 + RECENT_KEEP;
	}
	c->pairs[c->count++] = pair;
}

/* value · to / from. */
static uint64_t scale(uint64_t value, uint64_t to, uint64_t from)
{
	return from ? (uint64_t)((wide)value * to / from) : 0;
}

static uint64_t region_ticks(const struct zone_region *region, uint64_t duration_ns)
{
	struct zonewire_header h = zone_region_header(region);

	if (h.clock_mult == 0)
		return 0;
	return (uint64_t)(((wide)duration_ns << region->header.clock_shift) / h.clock_mult);
}

/* The pair before it, and behind that another; at the ends the nearest one. */
static uint32_t place_of(const struct zone_clock *c, uint64_t value, bool is_ticks)
{
	uint32_t i = c->count - 1;

	while (i > 0 && (is_ticks ? c->pairs[i].ticks : c->pairs[i].time_ns) > value)
		i--;
	return i;
}

uint64_t zone_clock_time_ns(const struct zone_clock *c, uint64_t ticks)
{
	uint32_t i = place_of(c, ticks, true);
	const struct zone_clock_pair *a = &c->pairs[i], *b = a + 1;

	if (ticks < a->ticks) {
		uint64_t before_ns = zone_region_duration_ns(c->region, a->ticks - ticks);

		return before_ns < a->time_ns ? a->time_ns - before_ns : 0;
	}
	if (i + 1 == c->count)
		return a->time_ns + zone_region_duration_ns(c->region, ticks - a->ticks);
	return a->time_ns + scale(ticks - a->ticks, b->time_ns - a->time_ns, b->ticks - a->ticks);
}

uint64_t zone_clock_ticks(const struct zone_clock *c, uint64_t time_ns)
{
	uint32_t i = place_of(c, time_ns, false);
	const struct zone_clock_pair *a = &c->pairs[i], *b = a + 1;

	if (time_ns < a->time_ns) {
		uint64_t before = region_ticks(c->region, a->time_ns - time_ns);

		return before < a->ticks ? a->ticks - before : 0;
	}
	if (i + 1 == c->count)
		return a->ticks + region_ticks(c->region, time_ns - a->time_ns);
	return a->ticks + scale(time_ns - a->time_ns, b->ticks - a->ticks, b->time_ns - a->time_ns);
}
