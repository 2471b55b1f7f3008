/*
 * The runtime's counts and times on one thread: exact, with a clock that the test drives, and in
 * balance whatever the program does.
 */
#define Prof_ENABLED
#include <prof.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../unit.h"
#include "../zones_seen.h"

Prof_Define(outer);
Prof_Define(inner);

static struct zones_seen seen;

static void look(void)
{
	NEED(zones_seen_open(&seen));
}

static void times_body(void)
{
	zones_seen_drive_clock();
	for (int i = 0; i < 3; i++) {
		Prof_Region(outer) zones_seen_pass(10);
		for (int k = 0; k < 2; k++) {
			Prof_Region(inner) zones_seen_pass(5);
			Prof_End
		}
		zones_seen_pass(1);
		Prof_End
	}
	Prof_Region(outer) zones_seen_pass(100);
	look();
	NEED_EQUAL(zones_seen_entries(&seen, "outer"), 4);
	NEED_EQUAL(zones_seen_entries(&seen, "outer/inner"), 6);
	NEED_EQUAL(zones_seen_self(&seen, "outer/inner"), 30);
	/* The open one counts so far. */
	NEED_EQUAL(zones_seen_self(&seen, "outer"), 133);
	NEED_EQUAL(zones_seen_total(&seen, "outer"), 163);
	NEED_EQUAL(zones_seen_self(&seen, ""), 0);
	Prof_End zones_seen_pass(7);
	zones_seen_look(&seen);
	NEED_EQUAL(zones_seen_self(&seen, "outer"), 133);
	NEED_EQUAL(zones_seen_total(&seen, ""), 163 + 7);
}

static void recurse(int depth)
{
	Prof_Begin(recurse) zones_seen_pass(1);
	if (depth > 1)
		recurse(depth - 1);
	zones_seen_pass(1);
	Prof_End
}

static void recursion_body(void)
{
	zones_seen_drive_clock();
	recurse(3);
	recurse(2);
	look();
	NEED_EQUAL(zones_seen_entries(&seen, "recurse"), 2);
	NEED_EQUAL(zones_seen_entries(&seen, "recurse/recurse"), 2);
	NEED_EQUAL(zones_seen_entries(&seen, "recurse/recurse/recurse"), 1);
	NEED_EQUAL(zones_seen_total(&seen, "recurse"), 10);
	NEED_EQUAL(zones_seen_self(&seen, "recurse/recurse/recurse"), 2);
}

static void many_children_body(void)
{
	char name[32];

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 3000; i++) {
			snprintf(name, sizeof(name), "child%d", i);
			Prof_enter(Prof_zone(name, "file.c", 1));
			Prof_leave();
		}
	}
	look();
	NEED_EQUAL(zones_seen_entries(&seen, "child0"), 3);
	NEED_EQUAL(zones_seen_entries(&seen, "child2999"), 3);
	NEED_EQUAL(seen.reading.node_count, 3000 + 2);
	NEED(Prof_zone("child7", "file.c", 1) == Prof_zone("child7", "file.c", 1));
	NEED(Prof_zone("child7", "file.c", 1) != Prof_zone("child7", "file.c", 2));
	NEED(Prof_zone("child7", NULL, 1) != Prof_zone("child7", "file.c", 1));
}

static void extra_end_body(void)
{
	Prof_Region(outer) Prof_End Prof_End /* one too many */
		Prof_End Prof_Region(inner) Prof_End
		look();
	NEED_EQUAL(zones_seen_trouble(&seen, ZONEWIRE_EXTRA_END), 2);
	NEED_EQUAL(zones_seen_entries(&seen, "inner"), 1);
	NEED_EQUAL(zones_seen_total(&seen, "inner") > 1000000000, 0);
}

static void missing_end_body(void)
{
	struct zonewire_header header;

	zones_seen_drive_clock();
	{
		Prof_Scope(outer);
		Prof_Region(inner) zones_seen_pass(3);
	}
	look();
	header = zone_region_header(&seen.region);
	NEED_EQUAL(zones_seen_trouble(&seen, ZONEWIRE_MISSING_END), 1);
	NEED(!strcmp(zones_seen_name(&seen, header.trouble_open), "inner"));
	NEED(!strcmp(zones_seen_name(&seen, header.trouble_ended), "outer"));
	zones_seen_pass(9);
	zones_seen_look(&seen);
	NEED_EQUAL(zones_seen_self(&seen, "outer/inner"), 3);
	NEED_EQUAL(zones_seen_total(&seen, "outer"), 3);
	NEED_EQUAL(zones_seen_self(&seen, ""), 9);
}

/* In each frame an end is missing: found by Prof_update, named, and the stack comes back. */
static void drift_body(void)
{
	struct zonewire_header header;
	uint32_t deepest = 0;

	Prof_Region(outer) for (int frame = 0; frame < 100; frame++)
	{
		Prof_Region(inner) Prof_update(1);
	}
	look();
	header = zone_region_header(&seen.region);
	for (uint32_t i = 1; i < seen.reading.node_count; i++) {
		if (seen.reading.place[i].depth > deepest)
			deepest = seen.reading.place[i].depth;
	}
	NEED(deepest < 20);
	NEED(zones_seen_trouble(&seen, ZONEWIRE_MISSING_END) > 80);
	NEED(!strcmp(zones_seen_name(&seen, header.trouble_open), "inner"));
	NEED_EQUAL(zones_seen_entries_of(&seen, "inner"), 100);
}

static void longjmp__body(void)
{
	jmp_buf here;
	Prof_Mark mark;

	zones_seen_drive_clock();
	Prof_Region(outer) mark = Prof_mark();
	if (!setjmp(here)) {
		Prof_enter(&Prof_region_inner);
		Prof_enter(&Prof_region_inner);
		zones_seen_pass(4);
		longjmp(here, 1);
	}
	Prof_return_to(mark);
	zones_seen_pass(2);
	look();
	NEED_EQUAL(zones_seen_self(&seen, "outer/inner/inner"), 4);
	NEED_EQUAL(zones_seen_self(&seen, "outer"), 2);
	Prof_End look();
	NEED_EQUAL(zones_seen_trouble(&seen, ZONEWIRE_EXTRA_END), 0);
	NEED_EQUAL(zones_seen_trouble(&seen, ZONEWIRE_MISSING_END), 0);
}

static void dive(int depth)
{
	Prof_Region(inner) if (depth > 1) dive(depth - 1);
	Prof_End
}

static void depth_body(void)
{
	enum { MOST = ZONEWIRE_DEPTH_MAX };

	for (int round = 0; round < 2; round++) {
		Prof_Region(outer) dive(MOST + 9);
		Prof_End
	}
	Prof_Region(inner) Prof_End look();
	/* One is outer's; what is skipped is undone by its own ends. */
	NEED_EQUAL(zones_seen_entries_of(&seen, "inner"), 2 * (MOST - 1) + 1);
	NEED_EQUAL(zones_seen_entries(&seen, "inner"), 1);
	NEED_EQUAL(zones_seen_trouble(&seen, ZONEWIRE_TOO_DEEP), 2);
	NEED_EQUAL(zones_seen_trouble(&seen, ZONEWIRE_EXTRA_END), 0);
}

static void zones_full_body(void)
{
	char name[64];

	for (int i = 0; i < 20000; i++) {
		snprintf(name, sizeof(name), "zone%d", i);
		Prof_enter(Prof_zone(name, NULL, 0));
		Prof_leave();
	}
	Prof_Region(outer) Prof_End look();
	NEED_EQUAL(zone_region_zone_count(&seen.region), seen.region.header.zones.capacity);
	NEED_EQUAL(zones_seen_entries(&seen, "...other"),
		20000 + 4 + 1 - seen.region.header.zones.capacity);
	NEED(zones_seen_trouble(&seen, ZONEWIRE_NO_ZONES) >= 1);
}

/* A tree that fills all nodes: those without room are skipped, and all comes back to balance. */
static void nodes_full_body(void)
{
	Prof_Zone *zone[100];
	char name[32];
	uint64_t entered = 0, seen_entries = 0;

	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "z%d", i);
		zone[i] = Prof_zone(name, NULL, 0);
	}
	for (int a = 0; a < 100; a++) {
		Prof_enter(zone[a]);
		for (int b = 0; b < 100; b++) {
			Prof_enter(zone[b]);
			for (int c = 0; c < 30; c++) {
				Prof_enter(zone[c]);
				Prof_leave();
				entered++;
			}
			Prof_leave();
			entered++;
		}
		Prof_leave();
		entered++;
	}
	Prof_enter(zone[0]);
	entered++;
	look();
	for (uint32_t i = 2; i < seen.reading.node_count; i++)
		seen_entries += seen.reading.counts[i].entries;
	NEED_EQUAL(seen.reading.node_count, seen.region.header.nodes.capacity);
	NEED_EQUAL(zones_seen_trouble(&seen, ZONEWIRE_EXTRA_END), 0);
	/* Each stack was entered once, and one twice: numbers 0 and 1 are nobody's and the root's.
	 */
	NEED_EQUAL(seen_entries, seen.region.header.nodes.capacity - 2 + 1);
	NEED(zones_seen_trouble(&seen, ZONEWIRE_NO_NODES) > 0);
	NEED(entered > seen_entries);
	NEED_EQUAL(zones_seen_entries(&seen, "z0"), 2);
	Prof_leave();
}

static void off_body(void)
{
	zones_seen_drive_clock();
	Prof_Region(outer) zones_seen_pass(1);
	Prof_set_enabled(0);
	Prof_Region(inner) zones_seen_pass(2);
	Prof_set_enabled(1);
	Prof_Region(inner) zones_seen_pass(4);
	Prof_End Prof_End zones_seen_pass(8);
	Prof_Region(inner) zones_seen_pass(16);
	Prof_End Prof_End look();
	NEED_EQUAL(zones_seen_entries(&seen, "outer"), 1);
	NEED_EQUAL(zones_seen_entries(&seen, "outer/inner"), 1);
	NEED_EQUAL(zones_seen_self(&seen, "outer"), 15);
	NEED_EQUAL(zones_seen_self(&seen, "outer/inner"), 16);
	NEED_EQUAL(zones_seen_trouble(&seen, ZONEWIRE_EXTRA_END), 0);
	NEED_EQUAL(zone_region_header(&seen.region).is_off, 0);
}

/* Zones that end with their block know themselves whether they were measured. */
static void off_block_body(void)
{
	zones_seen_drive_clock();
	{
		Prof_Scope(outer);
		zones_seen_pass(1);
		Prof_set_enabled(0);
		{
			Prof_Scope(inner);
			zones_seen_pass(2);
			Prof_set_enabled(1);
			{
				Prof_Scope(inner);
				zones_seen_pass(4);
				Prof_set_enabled(0);
				/* Counted, and so is what begins before its end. */
				Prof_Region(outer) Prof_set_enabled(1);
				{
					Prof_Scope(inner);
					zones_seen_pass(8);
				}
				Prof_End
			}
			zones_seen_pass(16);
		}
		NEED_EQUAL(Prof_thread_.skipped, 0);
		Prof_set_enabled(0);
	}
	Prof_set_enabled(1);
	look();
	NEED_EQUAL(zones_seen_entries(&seen, "outer"), 1);
	NEED_EQUAL(zones_seen_entries(&seen, "outer/inner"), 1);
	NEED_EQUAL(zones_seen_self(&seen, "outer"), 1 + 2 + 16);
	NEED_EQUAL(zones_seen_self(&seen, "outer/inner"), 4 + 8);
	NEED_EQUAL(zones_seen_trouble(&seen, ZONEWIRE_EXTRA_END), 0);
	NEED_EQUAL(zones_seen_trouble(&seen, ZONEWIRE_MISSING_END), 0);
}

static void *off_thread(void *unused)
{
	Prof_Region(outer) Prof_End NEED(Prof_thread_.mode & Prof_IS_OFF_);
	return unused;
}

/*
 * Before the first zone, and in a thread that starts meanwhile: from the first entry on, the thread
 * knows it, and needs no call to skip a zone.
 */
static void off_first_body(void)
{
	pthread_t thread;

	Prof_set_enabled(0);
	Prof_Region(outer) Prof_End NEED(Prof_thread_.mode & Prof_IS_OFF_);
	NEED(!pthread_create(&thread, NULL, off_thread, NULL));
	NEED(!pthread_join(thread, NULL));
	NEED_EQUAL(Prof_thread_.skipped, 0);
	Prof_set_enabled(1);
	Prof_Region(outer) Prof_End look();
	NEED_EQUAL(zones_seen_entries(&seen, "outer"), 1);
	NEED_EQUAL(zones_seen_trouble(&seen, ZONEWIRE_EXTRA_END), 0);
}

static void count_body(void)
{
	zones_seen_drive_clock();
	for (int i = 0; i < 5; i++) {
		Prof_Region(outer) Prof_Counter(counted);
		zones_seen_pass(1);
		Prof_End
	}
	look();
	NEED_EQUAL(zones_seen_entries(&seen, "outer/counted"), 5);
	NEED_EQUAL(zones_seen_self(&seen, "outer/counted"), 0);
	NEED_EQUAL(zones_seen_self(&seen, "outer"), 5);
}

static void notes_body(void)
{
	struct zonewire_note note;

	Prof_Region(outer) Prof_number(3);
	Prof_number(-1.5);
	Prof_text("a text that is longer than the thirty-nine bytes there are");
	look();
	NEED(zone_region_note(&seen.region, 1, &note));
	NEED_EQUAL(note.count, 2);
	NEED(note.min == -1.5 && note.max == 3 && note.sum == 1.5 && note.last == -1.5);
	NEED(!strcmp(note.text, "a text that is longer than the thirty-n"));
	Prof_End
}

static int64_t raw_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* What comes before and after the zone is measured, too: it may be preempted there. */
static void real_clock_body(void)
{
	struct zone_region *region = &seen.region;
	int64_t before_ns, begin_ns, end_ns, after_ns, told;

	before_ns = raw_ns();
	Prof_Region(outer) begin_ns = raw_ns();
	look();
	while ((end_ns = raw_ns()) < begin_ns + 50000000) {
	}
	Prof_End after_ns = raw_ns();
	int64_t least_ns = end_ns - begin_ns, most_ns = after_ns - before_ns;
	/* Before the correction that comes with the next new node, and after it. */
	for (int i = 0; i < 2; i++) {
		zones_seen_close(&seen);
		look();
		told = (int64_t)zone_region_duration_ns(region, zones_seen_total(&seen, "outer"));
		NEED(told > least_ns - least_ns / 100 - 1000000 &&
			told < most_ns + most_ns / 100 + 1000000);
		Prof_Region(inner) Prof_End
	}
}

#define CASE(name)                                                                                 \
	TEST(name)                                                                                 \
	{                                                                                          \
		assert_true(zones_apart(name##_body));                                             \
	}
CASE(times)
CASE(recursion)
CASE(many_children)
CASE(extra_end)
CASE(missing_end)
CASE(drift)
CASE(longjmp_)
CASE(depth)
CASE(zones_full)
CASE(nodes_full)
CASE(off)
CASE(off_block)
CASE(off_first)
CASE(count)
CASE(notes)
CASE(real_clock)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times),
		cmocka_unit_test(recursion),
		cmocka_unit_test(many_children),
		cmocka_unit_test(extra_end),
		cmocka_unit_test(missing_end),
		cmocka_unit_test(drift),
		cmocka_unit_test(longjmp_),
		cmocka_unit_test(depth),
		cmocka_unit_test(zones_full),
		cmocka_unit_test(nodes_full),
		cmocka_unit_test(off),
		cmocka_unit_test(off_block),
		cmocka_unit_test(off_first),
		cmocka_unit_test(count),
		cmocka_unit_test(notes),
		cmocka_unit_test(real_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
