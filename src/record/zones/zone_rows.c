/*
 * A record of a tick has differences.  Their sums equal the counters at its end exactly, if no
 * record was missed.  If one was missed (the ring was full, or the program did not record it), the
 * sums are recomputed from the counters.  These are read before the ring, and rows never exceed
 * them.
 *
 * A ring's events are ordered by time, so a binary search finds the one for a moment with about a
 * dozen reads, while the program continues writing.  The result is valid if it has not been
 * overwritten by then.
 *
 * A fiber has its own ring, and gets an event when it becomes a thread's current one.  So among the
 * rings of a thread and its fibers, the one with the latest event shows where the thread is.
 */
#include "record/zones/zone_rows.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/search.h"
#include "live/extents.h"

/* ---- rows ---- */

/* After this time without a tick, the rest is written in rows. */
#define REST_NS (SECOND_NS / 10)

static uint64_t file_time(const struct zone_context *c, uint64_t time_ns)
{
	uint64_t start_ns = c->recording->start_ns;

	return time_ns > start_ns ? time_ns - start_ns : 0;
}

static struct zone_given *given_at(struct zone_program *p, uint32_t node)
{
	while (p->given.count <= node)
		vec_push(&p->given, (struct zone_given){0});
	return &p->given.data[node];
}

/* Adds a row that brings a node up to the given counters. */
static void give(struct zone_program *p, struct zone_context *c, uint32_t node,
	const struct zone_sums *sums, uint64_t time_ns)
{
	struct zone_given *g = given_at(p, node);
	struct capture_zone_row row = {.time_ns = file_time(c, time_ns)};

	if (sums->ticks > g->ticks) {
		uint64_t total_ns = zone_region_duration_ns(&p->memory.region, sums->ticks);

		row.self_ns = total_ns > g->time_ns ? total_ns - g->time_ns : 0;
	}
	if (sums->entries > g->entries)
		row.entries = sums->entries - g->entries;
	if (row.self_ns == 0 && row.entries == 0)
		return;
	row.node = zone_program_stack(p, c, node);
	row.thread =
		row.node ? zone_program_thread(p, c, p->reading.place[node].slot) : CAPTURE_NO_ID;
	if (row.thread == CAPTURE_NO_ID)
		return;
	if (sums->ticks > g->ticks)
		g->ticks = sums->ticks;
	if (sums->entries > g->entries)
		g->entries = sums->entries;
	g->time_ns += row.self_ns;
	recording_take_zone_row(c->recording, &row);
}

/* Writes everything in the counters that is not in rows yet. */
static void give_rest(struct zone_program *p, struct zone_context *c)
{
	if (!zone_program_read(p))
		return;
	uint64_t time_ns = zone_clock_time_ns(&p->clock, p->reading.now);

	for (uint32_t node = 1; node < p->reading.node_count; node++) {
		const struct zone_counts *counts = &p->reading.counts[node];
		struct zone_sums sums = {counts->self_ticks, counts->entries};

		if (p->reading.place[node].zone != ZONEWIRE_ZONE_NONE)
			give(p, c, node, &sums, time_ns);
	}
	p->row_ns = clock_monotonic_ns();
}

/*
 * Counts threads that have ended since the last check and whose slots now belong to other threads:
 * what they did since then is attributed to these.
 */
static void count_merged(struct zone_program *p)
{
	for (size_t i = 0; i < p->threads.count; i++) {
		struct zone_thread *t = &p->threads.data[i];

		if (t->state != ZONEWIRE_SLOT_FIBER && t->thread_count > t->rows_count)
			p->merged_threads += t->thread_count - t->rows_count - !t->rows_taken;
		t->rows_count = t->thread_count;
		t->rows_taken = t->state != ZONEWIRE_SLOT_FREE;
	}
}

void zone_rows_begin(struct zone_program *p)
{
	if (p->is_whole) {
		for (int i = 0; i < ZONEWIRE_STREAMS; i++)
			p->streams[i].is_settled = true;
		return;
	}
	struct zonewire_header header = zone_region_header(&p->memory.region);

	zone_program_look_at_slots(p);
	count_merged(p);
	p->merged_threads = 0;
	p->ring_position = header.ring_head;
	for (int i = 0; i < ZONEWIRE_STREAMS; i++)
		p->streams[i].next_number = header.stream[i].ticks;
	if (!zone_program_read(p))
		return;
	for (uint32_t node = 1; node < p->reading.node_count; node++) {
		const struct zone_counts *counts = &p->reading.counts[node];

		*given_at(p, node) = (struct zone_given){counts->self_ticks, counts->entries,
			zone_region_duration_ns(&p->memory.region, counts->self_ticks)};
	}
}

static struct zone_sums *sums_at(struct zone_stream *s, uint32_t node)
{
	while (s->sums.count <= node)
		vec_push(&s->sums, (struct zone_sums){0});
	return &s->sums.data[node];
}

/* Limits the sums to the counters. */
static void cut_sums(const struct zone_program *p, uint32_t node, struct zone_sums *sums)
{
	if (node >= p->reading.node_count)
		return;
	const struct zone_counts *counts = &p->reading.counts[node];

	if (sums->ticks > counts->self_ticks)
		sums->ticks = counts->self_ticks;
	if (sums->entries > counts->entries)
		sums->entries = counts->entries;
}

/* ---- streams with missed records ---- */

/* Sums a stream's ticks in the ring from the current position on, up to the last reading. */
static void sum_ahead(struct zone_program *p, uint32_t stream, struct zone_stream *ahead)
{
	uint64_t position = p->ring_position, lost;
	struct zone_tick tick;

	while (zone_reader_next_tick(p->reader, &p->memory.region, &position, &tick, &lost)) {
		if (tick.head.end_ticks > p->reading.now)
			break;
		if (tick.head.stream != stream)
			continue;
		for (uint32_t i = 0; i < tick.head.delta_count; i++) {
			struct zone_sums *sums = sums_at(ahead, tick.delta[i].node);

			sums->ticks += tick.delta[i].self_ticks;
			sums->entries += tick.delta[i].entries;
		}
	}
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/*
 * Computes the counters at the start of the stream's next tick: those of the last reading, minus
 * the ring's later ticks.  They are too large by what happened since the last tick, so by less than
 * a tick.  The part beyond the rows is outside all ticks.
 */
static void settle(struct zone_program *p, struct zone_context *c, uint32_t stream)
{
	struct zone_stream *s = &p->streams[stream], ahead = {0};
	uint64_t time_ns = zone_clock_time_ns(&p->clock, p->reading.now);

	sum_ahead(p, stream, &ahead);
	s->sums.count = 0;
	for (uint32_t node = 0; node < p->reading.node_count; node++) {
		const struct zone_given *given = given_at(p, node);
		const struct zone_counts *counts = &p->reading.counts[node];
		struct zone_sums sums = {given->ticks, given->entries};

		if (node < ahead.sums.count && p->reading.place[node].zone) {
			const struct zone_sums *a = &ahead.sums.data[node];
			struct zone_sums before = {less(counts->self_ticks, a->ticks),
				less(counts->entries, a->entries)};

			if (a->ticks || a->entries) {
				give(p, c, node, &before, time_ns);
				sums = before;
			}
		}
		vec_push(&s->sums, sums);
	}
	vec_deinit(&ahead.sums);
	s->is_settled = true;
}

static void unsettle(struct zone_program *p)
{
	for (int i = 0; i < ZONEWIRE_STREAMS; i++) {
		p->streams[i].is_settled = false;
		p->streams[i].has_lost = true;
	}
}

/* ---- ticks ---- */

static void take_deltas(struct zone_program *p, struct zone_context *c,
	const struct zone_tick *tick, uint64_t end_ns)
{
	struct zone_stream *s = &p->streams[tick->head.stream];

	for (uint32_t i = 0; i < tick->head.delta_count; i++) {
		const struct zonewire_delta *d = &tick->delta[i];
		struct zone_sums *sums = sums_at(s, d->node), cut;

		sums->ticks += d->self_ticks;
		sums->entries += d->entries;
		cut = *sums;
		cut_sums(p, d->node, &cut);
		give(p, c, d->node, &cut, end_ns);
	}
}

/* Ticks are numbered as they are put into the ring, so lost ones leave gaps in the numbers. */
static void count_lost(struct zone_stream *s, struct zone_context *c, uint64_t number)
{
	if (s->has_lost && number > s->next_number)
		c->counts.lost_ticks += number - s->next_number;
	s->has_lost = false;
	s->next_number = number + 1;
}

/*
 * When a tick began: at the end of the previous one, if they are adjacent, even if a later pair of
 * clock readings gives a better time.
 */
static uint64_t start_time_ns(const struct zone_program *p, const struct zonewire_tick *head)
{
	const struct zone_stream *s = &p->streams[head->stream];

	return head->start_ticks == s->end_ticks ? s->end_ns
						 : zone_clock_time_ns(&p->clock, head->start_ticks);
}

/* A tick that began before the recording is incomplete, so its rows belong to no tick. */
static void take_tick(struct zone_program *p, struct zone_context *c, const struct zone_tick *tick)
{
	const struct zonewire_tick *head = &tick->head;
	struct zone_stream *s = &p->streams[head->stream];
	uint64_t start_ns = start_time_ns(p, head);
	uint64_t end_ns = zone_clock_time_ns(&p->clock, head->end_ticks);
	struct zonewire_header h = zone_region_header(&p->memory.region);

	if (end_ns < start_ns)
		end_ns = start_ns;
	s->end_ticks = head->end_ticks;
	s->end_ns = end_ns;
	take_deltas(p, c, tick, end_ns);
	count_lost(s, c, head->number);
	p->row_ns = clock_monotonic_ns();
	if (start_ns < p->begin_ns)
		return;
	c->counts.ticks++;
	c->counts.cut_ticks += (head->flags & ZONEWIRE_TICK_CUT) != 0;
	recording_take_tick(
		c->recording, &(struct capture_tick){.process = p->process,
				      .stream = str_from(h.stream[head->stream].name),
				      .number = head->number,
				      .start_ns = file_time(c, start_ns),
				      .duration_ns = file_time(c, end_ns) - file_time(c, start_ns),
				      .thread = head->slot == ZONEWIRE_SLOT_NOBODY
							? CAPTURE_NO_ID
							: zone_program_thread(p, c, head->slot)});
}

/* The next tick that had ended when the counters were last read. */
static bool next_tick(struct zone_program *p, struct zone_tick *tick)
{
	uint64_t position = p->ring_position, lost;
	bool found = zone_reader_next_tick(p->reader, &p->memory.region, &position, tick, &lost);

	if (lost)
		unsettle(p);
	if (found && tick->head.end_ticks > p->reading.now)
		return false;
	p->ring_position = position;
	return found;
}

static void take_ticks(struct zone_program *p, struct zone_context *c)
{
	struct zone_tick tick;
	uint64_t position = p->ring_position;

	if (!zone_program_read(p))
		return;
	while (next_tick(p, &tick)) {
		struct zone_stream *s = &p->streams[tick.head.stream];

		if (!s->is_settled || (tick.head.flags & ZONEWIRE_TICK_AFTER_GAP)) {
			/* Reads it again later, because the reader holds only one record. */
			p->ring_position = position;
			settle(p, c, tick.head.stream);
			if (!next_tick(p, &tick))
				break;
		}
		take_tick(p, c, &tick);
		position = p->ring_position;
	}
}

void zone_rows_look(struct zone_program *p, struct zone_context *c)
{
	if (!zone_program_has_process(p, c))
		return;
	zone_program_look_at_slots(p);
	count_merged(p);
	take_ticks(p, c);
	if (clock_monotonic_ns() >= p->row_ns + REST_NS)
		give_rest(p, c);
}

/* Counts lost ticks that were the last ones of their stream. */
static void count_last_lost(struct zone_program *p, struct zone_context *c)
{
	struct zonewire_header header = zone_region_header(&p->memory.region);

	for (int i = 0; i < ZONEWIRE_STREAMS; i++)
		count_lost(&p->streams[i], c, header.stream[i].ticks);
}

void zone_rows_end(struct zone_program *p, struct zone_context *c)
{
	if (!zone_program_has_process(p, c))
		return;
	zone_program_look_at_slots(p);
	count_merged(p);
	take_ticks(p, c);
	give_rest(p, c);
	count_last_lost(p, c);
}

/* ---- moments ---- */

#define TRIES 3
/* CPUs' clocks may differ by this many ticks. */
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

/* The number of the ring's events up to `ticks`.  low: its oldest event. */
static uint64_t count_until(const struct zone_program *p, const struct live_ring *ring,
	uint64_t low, uint64_t ticks, uint64_t not_after)
{
	return partition_point(i, low, ring->head,
		zonewire_event_ticks(read_event(p, ring, i), not_after) <= ticks);
}

/* The oldest event that is not being overwritten. */
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

/* The event may belong to the slot's previous thread; or the thread has ended. */
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

/* ---- all rows ---- */

static void store_slot(struct zone_program *p, struct zone_context *c, uint32_t slot)
{
	struct zone_event events[STORE_COUNT];
	uint64_t not_after = zone_region_now(&p->memory.region) + SKEW_TICKS, lost;
	struct zone_thread *t = &p->threads.data[slot];
	uint32_t thread = zone_program_thread(p, c, slot);
	size_t count;
	int rounds = 0;

	/* A program may write as fast as we read, so the rounds are limited. */
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
