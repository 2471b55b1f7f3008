/*
 * Zones at moments.  See zone_moment.h.
 *
 * A ring's events are in the order of time, so the one that holds at a moment is found by halving:
 * a dozen looks, however many events there are, while the program goes on writing.  What was found
 * counts if it is still there after it was read.
 *
 * A fiber has a ring of its own, and gets an event when it becomes a thread's current one: of the
 * rings of a thread and its fibers, that with the latest event says where it is.
 */
#include "record/zones/zone_moment.h"

#include "base/alloc.h"
#include "base/search.h"
#include "live/extents.h"

#define TRIES 3
/* Clocks of CPUs may differ by so many ticks. */
#define SKEW_TICKS  (UINT64_C(1) << 20)
#define STORE_COUNT 4096
#define ROUNDS_MAX  64

struct found {
	enum zone_moment moment;
	uint64_t ticks; /* of the event */
	uint32_t node;
};

static uint64_t read_event(const struct zone_program *p, const struct live_ring *ring, uint64_t i)
{
	const uint64_t *events = (const void *)(p->memory.region.data + ring->offset);

	return __atomic_load_n(&events[i & (ring->count - 1)], __ATOMIC_RELAXED);
}

/* Of the events before `end`, how many are no later; low: the oldest that is there. */
static uint64_t count_until(const struct zone_program *p, const struct live_ring *ring,
	uint64_t low, uint64_t ticks, uint64_t not_after)
{
	return partition_point(i, low, ring->head,
		zonewire_event_ticks(read_event(p, ring, i), not_after) <= ticks);
}

/* The oldest event that cannot be being written over. */
static uint64_t oldest(const struct live_ring *ring)
{
	return ring->head >= ring->count ? ring->head + 1 - ring->count : 0;
}

static struct found find_in_slot(const struct zone_program *p, uint32_t slot, uint64_t ticks)
{
	const struct zone_region *region = &p->memory.region;
	struct found unknown = {.moment = ZONE_MOMENT_UNKNOWN};
	struct live_ring ring;

	for (int i = 0; i < TRIES && live_event_ring(region, slot, &ring); i++) {
		uint64_t not_after = zone_region_now(region) + SKEW_TICKS;
		uint64_t low = oldest(&ring);
		uint64_t end = count_until(p, &ring, low, ticks, not_after);

		if (end == 0)
			return (struct found){.moment = ZONE_MOMENT_OUTSIDE};
		if (end == low)
			return unknown;
		uint64_t event = read_event(p, &ring, end - 1);

		if (live_event_ring(region, slot, &ring) && oldest(&ring) < end)
			return (struct found){ZONE_MOMENT_IN,
				zonewire_event_ticks(event, not_after), zonewire_event_node(event)};
	}
	return unknown;
}

/* The slot has been another thread's before, which that event may be of; or the thread has ended.
 */
static void check_owner(const struct zone_thread *t, struct found *found)
{
	if (found->moment == ZONE_MOMENT_IN && (found->ticks < t->start_ticks || found->node == 0))
		found->moment = ZONE_MOMENT_OUTSIDE;
}

static void try_fibers(
	const struct zone_program *p, int64_t tid, uint64_t ticks, struct found *best)
{
	int64_t inner = zone_tids_inner(&p->tids, tid);

	for (uint32_t slot = 0; slot < p->threads.count; slot++) {
		const struct zone_thread *t = &p->threads.data[slot];

		if (t->state != ZONEWIRE_SLOT_FIBER || t->tid != inner)
			continue;
		struct found found = find_in_slot(p, slot, ticks);

		check_owner(t, &found);
		if (found.moment == ZONE_MOMENT_IN && found.ticks >= best->ticks)
			*best = found;
	}
}

enum zone_moment zone_moment_find(
	struct zone_program *p, int64_t tid, uint64_t time_ns, uint32_t *node)
{
	uint64_t ticks = zone_clock_ticks(&p->clock, time_ns);
	uint32_t slot = zone_program_slot(p, tid);
	struct found found;

	if (p->memory.region.header.clock == ZONEWIRE_CLOCK_CALLED)
		return ZONE_MOMENT_UNKNOWN;
	if (slot == UINT32_MAX) {
		zone_program_look_at_slots(p);
		slot = zone_program_slot(p, tid);
	}
	if (slot == UINT32_MAX)
		return ZONE_MOMENT_OUTSIDE;
	found = find_in_slot(p, slot, ticks);
	check_owner(&p->threads.data[slot], &found);
	if (p->has_fibers)
		try_fibers(p, tid, ticks, &found);
	*node = found.node;
	return found.moment;
}

/* ---- all of them ---- */

static void store_slot(struct zone_program *p, struct zone_context *c, uint32_t slot)
{
	struct zone_event events[STORE_COUNT];
	uint64_t not_after = zone_region_now(&p->memory.region) + SKEW_TICKS, lost;
	struct zone_thread *t = &p->threads.data[slot];
	uint32_t thread = zone_program_thread(p, c, slot);
	size_t count;
	int rounds = 0;

	/* A program may write as fast as we read. */
	do {
		count = zone_region_events(&p->memory.region, slot, &t->event_position, not_after,
			events, STORE_COUNT, &lost);
		c->counts.lost_events += lost;
		for (size_t i = 0; i < count && thread != CAPTURE_NO_ID; i++) {
			uint64_t time_ns = zone_clock_time_ns(&p->clock, events[i].ticks);
			uint64_t start_ns = c->recording->start_ns;
			bool is_before = events[i].ticks < t->start_ticks &&
					 t->number_before != CAPTURE_NO_ID;

			capture_writer_zone_event(c->recording->writer,
				time_ns > start_ns ? time_ns - start_ns : 0,
				is_before ? t->number_before : thread,
				zone_program_stack(p, c, events[i].node));
		}
	} while (count == STORE_COUNT && ++rounds < ROUNDS_MAX);
}

void zone_moment_store(struct zone_program *p, struct zone_context *c)
{
	if (!zone_program_has_process(p, c))
		return;
	zone_program_look_at_slots(p);
	for (uint32_t slot = 0; slot < p->threads.count; slot++)
		store_slot(p, c, slot);
}
