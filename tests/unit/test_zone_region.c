/*
 * The reader of zones' memory: what it refuses, that it tells the truth of memory that stands
 * still, and what holds of memory that others write meanwhile.
 */
#include <stdlib.h>
#include <string.h>

#include <pthread.h>
#include <sched.h>

#include "../unit.h"
#include "../zone_region.h"
#include "zonereport/region.h"

enum { RING_BYTES = 4096 };

static void setup_maker(struct zone_maker *m)
{
	zone_maker_init(m, 64, 4096, 16, RING_BYTES);
}

/* ---- what is refused ---- */

struct damage {
	size_t offset, bytes;
	uint64_t value;
	const char *says;
};
#define DAMAGE(field, value, says)                                                                 \
	{                                                                                          \
		offsetof(struct zonewire_header, field),                                           \
			sizeof(((struct zonewire_header *)0)->field), value, says                  \
	}

TEST(test_refused)
{
	static const struct damage damages[] = {
		DAMAGE(magic, 0, "not a zones memory file"),
		DAMAGE(version, 2, "version"),
		DAMAGE(header_bytes, 100, "truncated"),
		DAMAGE(region_bytes, UINT64_MAX, "truncated"),
		DAMAGE(clock, 9, "clock"),
		DAMAGE(clock_mult, 0, "clock"),
		DAMAGE(clock_shift, 64, "clock"),
		DAMAGE(slots.offset, UINT64_MAX - 7, "table"),
		DAMAGE(slots.offset, 4100, "table"),
		DAMAGE(zones.capacity, UINT32_MAX, "table"),
		DAMAGE(nodes.row_bytes, 8, "table"),
		DAMAGE(nodes.capacity, 1 << 21, "table"),
		DAMAGE(notes.row_bytes, 73, "table"),
		DAMAGE(strings_bytes, UINT64_MAX, "strings"),
		DAMAGE(ring_offset, UINT64_MAX - 7, "strings"),
		DAMAGE(ring_bytes, 12, "strings"),
	};
	struct zone_maker m;
	struct zone_region region;

	setup_maker(&m);
	assert_null(zone_region_open(&region, m.data, m.region.size));
	assert_non_null(zone_region_open(&region, m.data, 100));
	for (size_t i = 0; i < sizeof(damages) / sizeof(*damages); i++) {
		const struct damage *d = &damages[i];
		uint64_t kept = 0;
		const char *why;

		memcpy(&kept, m.data + d->offset, d->bytes);
		memcpy(m.data + d->offset, &d->value, d->bytes);
		why = zone_region_open(&region, m.data, m.region.size);
		assert_non_null(why);
		assert_non_null(strstr(why, d->says));
		memcpy(m.data + d->offset, &kept, d->bytes);
	}
	assert_null(zone_region_open(&region, m.data, m.region.size));
	zone_maker_deinit(&m);
}

/* ---- counters ---- */

TEST(test_counters)
{
	struct zone_maker m;
	struct zone_reader *reader = zone_reader_create();
	struct zone_reading r;
	uint32_t a, b, slot, node_a, node_b;

	setup_maker(&m);
	a = zone_maker_zone(&m, "a", "x.c", 1);
	b = zone_maker_zone(&m, "b", NULL, 0);
	slot = zone_maker_slot(&m, "main", 7);
	zone_maker_pass(&m, 5);
	zone_maker_enter(&m, slot, a);
	node_a = m.top[slot];
	zone_maker_pass(&m, 10);
	zone_maker_spend(&m, slot, b, 100);
	zone_maker_spend(&m, slot, b, 50);
	node_b = zone_maker_node(&m, node_a, b);
	zone_maker_pass(&m, 3);

	assert_true(zone_reader_read(reader, &m.region, &r));
	assert_int_equal(r.broken, 0);
	assert_int_equal(r.node_count, 4); /* none, root, a, b */
	assert_int_equal(r.now, m.header->now_ticks);
	assert_int_equal(r.counts[m.slot[slot].root].self_ticks, 5);
	assert_int_equal(r.counts[node_a].self_ticks, 13); /* though it is open */
	assert_true(r.is_open[node_a]);
	assert_int_equal(r.counts[node_b].self_ticks, 150);
	assert_int_equal(r.counts[node_b].entries, 2);
	assert_false(r.is_open[node_b]);
	assert_int_equal(r.place[node_b].parent, node_a);
	assert_int_equal(r.place[node_b].zone, b);
	assert_int_equal(r.place[node_b].depth, 2);

	/* What ended stands still, whatever the clock says. */
	m.region.ended_ticks = m.header->now_ticks;
	zone_maker_pass(&m, 1000);
	assert_true(zone_reader_read(reader, &m.region, &r));
	assert_int_equal(r.counts[node_a].self_ticks, 13);
	zone_reader_destroy(reader);
	zone_maker_deinit(&m);
}

/* Rows that are no nodes are left out, once and for all, and so is what hangs on them. */
TEST(test_broken_nodes)
{
	struct zone_maker m;
	struct zone_reader *reader = zone_reader_create();
	struct zone_reading r;
	uint32_t slot, zone, nodes[6];

	setup_maker(&m);
	slot = zone_maker_slot(&m, "main", 7);
	zone = zone_maker_zone(&m, "a", NULL, 0);
	for (int i = 0; i < 6; i++) {
		nodes[i] = zone_maker_node(&m, m.top[slot], zone + (uint32_t)i);
		zone_maker_zone(&m, (const char[]){(char)('b' + i), 0}, NULL, 0);
	}
	m.node[nodes[0]].parent = nodes[0] + 1;
	m.node[nodes[1]].zone = 5000;
	m.node[nodes[2]].slot = 3;
	m.node[nodes[3]].depth = 9;
	m.node[nodes[4]].number = 1;
	m.node[nodes[5]].ticks = INT64_MAX;
	assert_true(zone_reader_read(reader, &m.region, &r));
	assert_int_equal(r.broken, 5);
	for (int i = 0; i < 5; i++)
		assert_int_equal(r.place[nodes[i]].zone, ZONEWIRE_ZONE_NONE);
	assert_int_equal(r.counts[nodes[5]].self_ticks, 0);
	assert_true(zone_reader_read(reader, &m.region, &r));
	assert_int_equal(r.broken, 5);
	zone_reader_destroy(reader);
	zone_maker_deinit(&m);
}

/* A row that is not yet filled in is none, and is a node as soon as it is. */
TEST(test_late_node)
{
	struct zone_maker m;
	struct zone_reader *reader = zone_reader_create();
	struct zone_reading r;
	struct zonewire_node kept;
	uint32_t slot, node;

	setup_maker(&m);
	slot = zone_maker_slot(&m, "main", 7);
	node = zone_maker_node(&m, m.top[slot], zone_maker_zone(&m, "a", NULL, 0));
	kept = m.node[node];
	m.node[node] = (struct zonewire_node){0};
	assert_true(zone_reader_read(reader, &m.region, &r));
	assert_int_equal(r.place[node].zone, ZONEWIRE_ZONE_NONE);
	assert_int_equal(r.broken, 0);
	m.node[node] = kept;
	assert_true(zone_reader_read(reader, &m.region, &r));
	assert_int_equal(r.place[node].zone, kept.zone);
	zone_reader_destroy(reader);
	zone_maker_deinit(&m);
}

struct racer {
	struct zone_maker *m;
	uint32_t slot, zones[4];
	bool stop;
};

#define PUT(place, value) __atomic_store_n(&(place), (value), __ATOMIC_RELAXED)

/* Enters or leaves as a program does, word by word; the clock goes on by one each time. */
static void race_step(struct racer *race, uint32_t choice)
{
	struct zone_maker *m = race->m;
	struct zonewire_node *top = &m->node[m->top[race->slot]];
	int64_t now = (int64_t)__atomic_add_fetch(&m->header->now_ticks, 1, __ATOMIC_RELAXED);

	if (top->depth > 0 && (choice % 2 || top->depth > 4)) {
		PUT(top->ticks, top->ticks + now);
		m->top[race->slot] = top->parent;
	} else {
		uint32_t child = zone_maker_node(m, top->number, race->zones[choice / 2 % 4]);

		PUT(m->node[child].entries, m->node[child].entries + 1);
		PUT(m->node[child].ticks, m->node[child].ticks - now);
		m->top[race->slot] = child;
	}
}

static void *race(void *context)
{
	struct racer *race = context;
	uint32_t random = 1;

	while (!__atomic_load_n(&race->stop, __ATOMIC_RELAXED))
		race_step(race, (random = random * 1664525 + 1013904223) >> 16);
	return NULL;
}

/* Makes all nodes that there can be, so that while threads race none are added. */
static void make_nodes(struct zone_maker *m, uint32_t parent, const uint32_t *zones, int depth)
{
	for (int i = 0; i < 4 && depth > 0; i++)
		make_nodes(m, zone_maker_node(m, parent, zones[i]), zones, depth - 1);
}

/* While others write: nothing goes back, and nobody has spent more than there was. */
TEST(test_race)
{
	struct zone_maker m;
	struct zone_reader *reader = zone_reader_create();
	struct zone_counts *before = calloc(4096, sizeof(*before));
	struct racer racer = {.m = &m};
	struct zone_reading r = {0};
	int rounds = 0;
	pthread_t thread;

	setup_maker(&m);
	racer.slot = zone_maker_slot(&m, "racer", 8);
	for (int i = 0; i < 4; i++)
		racer.zones[i] = zone_maker_zone(&m, (const char[]){(char)('a' + i), 0}, NULL, 0);
	make_nodes(&m, m.slot[racer.slot].root, racer.zones, 5);
	assert_int_equal(pthread_create(&thread, NULL, race, &racer), 0);
	while (rounds < 500 || r.now < 200000) {
		uint64_t sum = 0;

		rounds++;

		assert_true(zone_reader_read(reader, &m.region, &r));
		for (uint32_t i = 1; i < r.node_count; i++) {
			assert_true(r.counts[i].self_ticks >= before[i].self_ticks);
			assert_true(r.counts[i].entries >= before[i].entries);
			sum += r.counts[i].self_ticks;
			before[i] = r.counts[i];
		}
		/* The root's time, and what reading took; a reading is some hundred steps. */
		assert_true(sum >= r.now / 2 && sum <= 2 * r.now + 100000);
	}
	__atomic_store_n(&racer.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	while (m.top[racer.slot] != m.slot[racer.slot].root)
		race_step(&racer, 1);
	free(before);
	zone_reader_destroy(reader);
	zone_maker_deinit(&m);
}

/* ---- the ring of ticks ---- */

static void put_tick(struct zone_maker *m, uint64_t number, uint32_t deltas)
{
	struct zonewire_delta delta[64];
	struct zonewire_tick tick = {.bytes = (uint32_t)(sizeof(tick) + deltas * sizeof(*delta)),
		.number = number,
		.start_ticks = number * 10,
		.end_ticks = number * 10 + 10,
		.delta_count = deltas};

	for (uint32_t i = 0; i < deltas; i++)
		delta[i] = (struct zonewire_delta){1 + i, 1, number};
	zone_maker_tick(m, &tick, delta);
}

TEST(test_ticks)
{
	struct zone_maker m;
	struct zone_reader *reader = zone_reader_create();
	struct zone_tick tick;
	uint64_t position = 0, lost, next = 0, last = 0, missed = 0;

	setup_maker(&m);
	assert_false(zone_reader_next_tick(reader, &m.region, &position, &tick, &lost));
	/* Of various sizes, so that the end of the ring is met in all ways. */
	for (uint64_t n = 0; n < 500; n++) {
		put_tick(&m, n, (uint32_t)(n * 7 % 50));
		if (n % 100 < 20) /* falls behind, then catches up */
			continue;
		while (zone_reader_next_tick(reader, &m.region, &position, &tick, &lost)) {
			missed += lost;
			/* Who reads for the first time has missed nothing. */
			assert_true(lost > 0 || tick.head.number == next || next == 0);
			assert_true(tick.head.number >= next);
			assert_int_equal(tick.head.delta_count, tick.head.number * 7 % 50);
			for (uint32_t i = 0; i < tick.head.delta_count; i++)
				assert_int_equal(tick.delta[i].self_ticks, tick.head.number);
			next = tick.head.number + 1;
			last = tick.head.number;
		}
		assert_int_equal(last, n);
	}
	assert_true(missed > 0);
	zone_reader_destroy(reader);
	zone_maker_deinit(&m);
}

/* Records that are none end the reading of what there is, and never more. */
TEST(test_bad_ticks)
{
	struct zone_maker m;
	struct zone_reader *reader = zone_reader_create();
	struct zone_tick tick;
	uint64_t lost;

	setup_maker(&m);
	for (uint64_t n = 0; n < 20; n++)
		put_tick(&m, n, 3);
	for (size_t word = 0; word < 24; word++) {
		uint64_t *place = (uint64_t *)(void *)(m.data + m.header->ring_offset) + word;
		uint64_t kept = *place;

		for (uint64_t bad = 0; bad < 64; bad++) {
			uint64_t position = 0;
			int count = 0;

			*place = kept ^ UINT64_C(1) << bad;
			while (zone_reader_next_tick(reader, &m.region, &position, &tick, &lost))
				assert_true(++count <= 20);
			assert_int_equal(position, m.header->ring_head);
		}
		*place = kept;
	}
	zone_reader_destroy(reader);
	zone_maker_deinit(&m);
}

/* ---- events ---- */

enum { EVENTS = 64 };

struct event_writer {
	uint64_t *ring;
	struct zonewire_slot *slot;
	uint64_t *now;
	bool stop;
};

static void put_event(struct event_writer *w, uint64_t n)
{
	uint64_t now = __atomic_add_fetch(w->now, 3, __ATOMIC_SEQ_CST);

	__atomic_store_n(
		&w->ring[n % EVENTS], now << ZONEWIRE_EVENT_NODE_BITS | n % 1000, __ATOMIC_RELAXED);
	__atomic_store_n(&w->slot->event_head, n + 1, __ATOMIC_RELEASE);
}

static void *write_events(void *context)
{
	struct event_writer *w = context;

	for (uint64_t n = 0; !__atomic_load_n(&w->stop, __ATOMIC_RELAXED); n++)
		put_event(w, n);
	return NULL;
}

/* The writer goes round and round the ring: what is had is right, what is not is counted. */
TEST(test_events)
{
	struct zone_maker m;
	struct event_writer w;
	struct zone_event events[EVENTS];
	uint64_t position = 0, lost_all = 0, kept = 0;
	uint32_t slot;
	pthread_t thread;

	setup_maker(&m);
	slot = zone_maker_slot(&m, "main", 7);
	/* A ring where the notes are, which are not used; the clock is past the 44 bits. */
	m.slot[slot].events_offset = m.header->notes.offset;
	m.slot[slot].event_count = EVENTS;
	m.header->now_ticks = (UINT64_C(1) << 44) - 1000;
	w = (struct event_writer){.ring = (uint64_t *)(void *)m.note,
		.slot = &m.slot[slot],
		.now = &m.header->now_ticks};
	assert_int_equal(pthread_create(&thread, NULL, write_events, &w), 0);
	while (kept < 100000 || lost_all == 0) {
		uint64_t from = position, lost, now;
		size_t count;

		now = zone_region_now(&m.region);
		count = zone_region_events(&m.region, slot, &position, now, events, EVENTS, &lost);
		assert_int_equal(from + lost + count, position);
		for (size_t i = 0; i < count; i++) {
			uint64_t n = position - count + i;

			assert_int_equal(events[i].node, n % 1000);
			assert_int_equal(events[i].ticks, (UINT64_C(1) << 44) - 1000 + 3 * (n + 1));
		}
		kept += count;
		lost_all += lost;
		if (kept > 100000)
			sched_yield();
	}
	__atomic_store_n(&w.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	/* A head at the end of all numbers, which nobody writes: no more than the ring is read. */
	m.slot[slot].event_head = UINT64_MAX;
	position = 0;
	assert_true(zone_region_events(&m.region, slot, &position, 1, events, EVENTS, &lost_all) <
		    EVENTS);
	assert_int_equal(position, UINT64_MAX);
	m.slot[slot].event_count = 63; /* no power of two: no ring */
	assert_int_equal(
		zone_region_events(&m.region, slot, &position, 1, events, EVENTS, &lost_all), 0);
	zone_maker_deinit(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_counters),
		cmocka_unit_test(test_broken_nodes),
		cmocka_unit_test(test_late_node),
		cmocka_unit_test(test_race),
		cmocka_unit_test(test_ticks),
		cmocka_unit_test(test_bad_ticks),
		cmocka_unit_test(test_events),
	};

	return cmocka_run_group_tests_name("zone_region", tests, NULL, NULL);
}
