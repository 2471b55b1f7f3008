/*
 * Histories of zones: averages against their closed form, heat, the bound in bytes, values over
 * time, pause and freeze, and that idle nodes decay as if they had been looked at.
 */

#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../unit.h"
#include "../zone_frames.h"
#include "zonereport/figures.h"
#include "zonereport/report.h"

static const uint64_t ms = 1000000;

struct program {
	struct zone_maker m;
	struct zone_frames f;
	uint32_t slot, work, other;
};

static void program_init(struct program *p, size_t bytes)
{
	zone_maker_init(&p->m, 256, 1 << 14, 4, 1 << 12);
	zone_frames_init(&p->f, &p->m, bytes);
	p->slot = zone_maker_slot(&p->m, "main", 100);
	p->work = zone_maker_zone(&p->m, "work", NULL, 0);
	p->other = zone_maker_zone(&p->m, "other", NULL, 0);
}

static void program_deinit(struct program *p)
{
	zone_frames_deinit(&p->f);
	zone_maker_deinit(&p->m);
}

/* A frame of so many ms; work takes so many of them, in so many entries. */
static void frame(struct program *p, uint64_t frame_ms, uint64_t work_ms, int entries)
{
	for (int i = 0; i < entries; i++)
		zone_maker_spend(&p->m, p->slot, p->work, i == 0 ? work_ms * ms : 0);
	zone_maker_pass(&p->m, (frame_ms - work_ms) * ms);
	zone_frames_end(&p->f, &p->m);
}

static struct zone_row row_of(struct program *p, unsigned average, enum zone_mode mode)
{
	struct zone_query query = ZONE_QUERY_INIT;
	struct zone_report *report;
	struct zone_row row = {0};

	query.average = average;
	query.mode = mode;
	report = zone_report_create(p->f.history, &query);
	assert_non_null(report);
	for (size_t i = 0; i < report->row_count; i++)
		if (report->row[i].zone == p->work)
			row = report->row[i];
	zone_report_destroy(report);
	return row;
}

static void expect_close(double value, double expected)
{
	if (!(fabs(value - expected) <= 1e-12 * fabs(expected) + 1e-13))
		fail_msg("%.17g, not %.17g", value, expected);
}

/* ---- averages ---- */

TEST(figures)
{
	for (double x = 0; x < 306; x += 0.37) {
		double power = figure_tenth_power(x), right = pow(10, -x);

		assert_true(fabs(power / right - 1) < 1e-13);
	}
	assert_true(figure_tenth_power(1e9) == 0);
	assert_true(figure_tenth_power(0) == 1);
	for (double x = 1e-12; x < 1e40; x *= 1.7)
		assert_true(fabs(figure_root(x) / sqrt(x) - 1) < 1e-15);
	assert_true(figure_root(0) == 0);
	assert_true(figure_root(-1) == 0);
}

/* A plain one: every frame, every rule. */
struct plain {
	double value, square;
	int frames;
};

static void plain_add(struct plain *plain, double value, double seconds, double time)
{
	double k = plain->frames < 3 ? 0 : pow(0.1, seconds / time);

	plain->frames++;
	plain->value = plain->value * k + value * (1 - k);
	plain->square = plain->square * k + value * value * (1 - k);
}

/* Frames of different lengths, and long pauses of the zone. */
TEST(averages)
{
	static const double times[] = {0, 0.8, 2.5};
	struct plain self[3] = {0}, count[3] = {0}, time[3] = {0};
	struct program p;

	program_init(&p, ZONE_HISTORY_BYTES);
	for (uint64_t n = 0; n < 300; n++) {
		uint64_t frame_ms = 10 + n * 7 % 50;
		uint64_t work_ms = n == 2 || (n > 100 && n < 200 && n % 10) ? 0 : n * 5 % 10;
		int entries = work_ms ? (int)(n % 4) + 1 : 0;

		frame(&p, frame_ms, work_ms, entries);
		for (unsigned a = 1; a < 3; a++) {
			double seconds = (double)frame_ms / 1e3;
			struct zone_row row = row_of(&p, a, ZONE_MODE_SELF);

			plain_add(&self[a], (double)work_ms, seconds, times[a]);
			plain_add(&count[a], entries, seconds, times[a]);
			plain_add(&time[a], (double)frame_ms, seconds, times[a]);
			expect_close(row.self_ms, self[a].value);
			expect_close(row.hier_ms, self[a].value);
			expect_close(row.count, count[a].value);
			expect_close(zone_history_frame_ms(p.f.history, a), time[a].value);
		}
		assert_true(row_of(&p, 0, ZONE_MODE_SELF).self_ms == (double)work_ms);
	}
	program_deinit(&p);
}

/* 10^-1 of the past is left after T: 90 % is reached. */
TEST(nine_tenths)
{
	struct program p;

	program_init(&p, 1 << 16);
	for (int i = 0; i < 10; i++)
		frame(&p, 100, 0, 0);
	for (int i = 0; i < 8; i++)
		frame(&p, 100, 10, 1);
	expect_close(row_of(&p, 1, ZONE_MODE_SELF).self_ms, 9);
	for (int i = 8; i < 25; i++)
		frame(&p, 100, 10, 1);
	expect_close(row_of(&p, 2, ZONE_MODE_SELF).self_ms, 9);
	program_deinit(&p);
}

/* The original shows 1.6 ms for frames of 2.1 ms after 300 of them. */
TEST(frame_time_is_right_at_once)
{
	struct program p;

	program_init(&p, 1 << 16);
	for (int i = 0; i < 5; i++) {
		frame(&p, 2, 1, 1);
		for (unsigned a = 0; a < ZONE_AVERAGES; a++)
			expect_close(zone_history_frame_ms(p.f.history, a), 2);
	}
	program_deinit(&p);
}

/* ---- heat ---- */

TEST(heat)
{
	struct plain plain = {0};
	struct program p;

	program_init(&p, 1 << 16);
	for (int i = 0; i < 50; i++)
		frame(&p, 20, 10, 1);
	assert_true(row_of(&p, 1, ZONE_MODE_SELF).heat == 0);
	zone_history_clear(p.f.history);
	for (int i = 0; i < 50; i++) {
		frame(&p, 20, i % 2 ? 9 : 11, 1);
		plain_add(&plain, i % 2 ? 9 : 11, 0.02, 0.8);
	}
	for (unsigned mode = ZONE_MODE_SELF; mode <= ZONE_MODE_HIER; mode++) {
		double stdev = sqrt(plain.square - plain.value * plain.value);
		double value = row_of(&p, 1, (enum zone_mode)mode).heat;

		assert_true(fabs(value - 2 * stdev / plain.value) < 1e-9);
		assert_true(value > 0.19 && value < 0.21);
	}
	assert_true(row_of(&p, 0, ZONE_MODE_SELF).heat == 0);
	for (int i = 0; i < 50; i++)
		frame(&p, 20, i % 5 ? 0 : 10, 1);
	assert_true(row_of(&p, 1, ZONE_MODE_SELF).heat == 1);
	program_deinit(&p);
}

/* ---- frames ---- */

TEST(history_is_bounded)
{
	/* Room for ten frames of three nodes, or fifteen of one. */
	const size_t bytes =
		10 * (sizeof(struct zonewire_tick) + 3 * sizeof(struct zonewire_delta));
	struct zone_frame f;
	struct program p;

	program_init(&p, bytes);
	for (uint64_t n = 0; n < 1000; n++) {
		frame(&p, 20 + n, n % 3 ? n % 20 : 0, n % 3 ? 1 : 0);
		assert_true(zone_history_frame_count(p.f.history) <= bytes / 64);
		assert_true(n < 15 || zone_history_frame_count(p.f.history) >= 8);
		for (size_t ago = 0; ago < zone_history_frame_count(p.f.history); ago++) {
			assert_true(zone_history_frame(p.f.history, ago, &f));
			assert_int_equal(f.number, n - ago);
			expect_close(f.ms, (double)(20 + n - ago));
		}
		assert_false(
			zone_history_frame(p.f.history, zone_history_frame_count(p.f.history), &f));
	}
	assert_int_equal(zone_history_frames_added(p.f.history), 1000);
	program_deinit(&p);
}

/* One frame that is larger than all the room: what has room is kept, the rest is counted. */
TEST(too_large_a_frame)
{
	struct zone_query query = ZONE_QUERY_INIT;
	struct zone_report *report;
	struct zone_frame f;
	struct program p;

	program_init(&p, 1024);
	for (int i = 0; i < 200; i++) {
		char name[16];

		snprintf(name, sizeof(name), "zone%d", i);
		zone_maker_spend(&p.m, p.slot, zone_maker_zone(&p.m, name, NULL, 0), ms);
	}
	zone_frames_end(&p.f, &p.m);
	assert_true(zone_history_frame(p.f.history, 0, &f));
	assert_int_equal(f.delta_count, (1024 - sizeof(struct zonewire_tick)) / 16);
	assert_true(f.flags & ZONEWIRE_TICK_CUT);
	report = zone_report_create(p.f.history, &query);
	assert_non_null(report);
	assert_true(fabs(report->total_ms - 200) < 1e-9);
	assert_non_null(strstr(report->trouble, "zones of too large frames not in the history"));
	zone_report_destroy(report);
	program_deinit(&p);
}

TEST(statistics)
{
	struct zone_stats stats;
	struct program p;
	float values[8];

	program_init(&p, ZONE_HISTORY_BYTES);
	struct zone_choice work = {p.work, ZONE_DEPTH_ALL, ZONE_SLOT_ALL};
	struct zone_choice global = {ZONEWIRE_ZONE_GLOBAL, ZONE_DEPTH_ALL, ZONE_SLOT_ALL};

	assert_false(zone_history_stats(p.f.history, work, ZONE_SELF, &stats));
	for (uint64_t n = 1; n <= 100; n++)
		frame(&p, 200, n * 37 % 101, n * 37 % 101 ? 2 : 0);
	assert_true(zone_history_stats(p.f.history, work, ZONE_SELF, &stats));
	assert_int_equal(stats.frames, 100);
	assert_true(stats.min == 1 && stats.max == 100 && stats.p95 == 95);
	assert_true(stats.median == 50.5 && stats.mean == 50.5);
	assert_true(zone_history_stats(p.f.history, global, ZONE_HIER, &stats));
	assert_true(stats.min == 200 && stats.max == 200);
	assert_int_equal(zone_history_series(p.f.history, work, ZONE_COUNT, values, 8), 8);
	assert_true(values[7] == 2);
	assert_int_equal(zone_history_series(p.f.history, work, ZONE_SELF, values, 8), 8);
	assert_true(values[7] == 100 * 37 % 101 && values[0] == 93 * 37 % 101);
	work.slot = 7;
	assert_true(zone_history_stats(p.f.history, work, ZONE_SELF, &stats));
	assert_true(stats.max == 0);
	program_deinit(&p);
}

TEST(pause_and_freeze)
{
	struct program p;

	program_init(&p, 1 << 16);
	frame(&p, 10, 5, 1);
	zone_history_pause(p.f.history, true);
	frame(&p, 10, 9, 1);
	assert_true(row_of(&p, 1, ZONE_MODE_SELF).self_ms == 5);
	zone_history_pause(p.f.history, false);
	zone_history_freeze_over(p.f.history, 15);
	frame(&p, 15, 6, 1);
	assert_false(zone_history_is_frozen(p.f.history));
	frame(&p, 16, 7, 1);
	assert_true(zone_history_is_frozen(p.f.history));
	frame(&p, 10, 8, 1);
	assert_true(row_of(&p, 0, ZONE_MODE_SELF).self_ms == 7);
	assert_int_equal(zone_history_frame_count(p.f.history), 3);
	program_deinit(&p);
}

/* What was skipped is in no frame, and the next one says so. */
TEST(gaps)
{
	struct zone_frame f;
	struct program p;

	program_init(&p, 1 << 16);
	frame(&p, 10, 5, 1);
	zone_maker_spend(&p.m, p.slot, p.work, 100 * ms);
	zone_frames_skip(&p.f, &p.m);
	frame(&p, 10, 6, 1);
	assert_true(zone_history_frame(p.f.history, 0, &f));
	assert_int_equal(f.flags, ZONEWIRE_TICK_AFTER_GAP);
	expect_close(f.ms, 10);
	assert_true(row_of(&p, 0, ZONE_MODE_SELF).self_ms == 6);
	assert_true(zone_history_frame(p.f.history, 1, &f));
	assert_int_equal(f.flags, 0);
	program_deinit(&p);
}

/* Below a stack of zones that stands still nothing is read. */
TEST(idle_stacks_are_not_read)
{
	struct zone_reading reading;
	struct program p;

	program_init(&p, 1 << 16);
	zone_maker_enter(&p.m, p.slot, p.other);
	for (int i = 0; i < 200; i++) {
		char name[16];

		snprintf(name, sizeof(name), "zone%d", i);
		zone_maker_spend(&p.m, p.slot, zone_maker_zone(&p.m, name, NULL, 0), 1);
	}
	zone_maker_leave(&p.m, p.slot);
	for (int i = 0; i < 3; i++)
		assert_true(zone_reader_read(p.f.reader, &p.m.region, &reading));
	assert_int_equal(reading.node_count, 203);
	assert_int_equal(reading.changed_count, 1); /* the root is open */
	zone_maker_spend(&p.m, p.slot, p.work, 1);
	assert_true(zone_reader_read(p.f.reader, &p.m.region, &reading));
	assert_int_equal(reading.changed_count, 2);
	program_deinit(&p);
}

/* ---- no memory ---- */

/* Memory that the process has is all that it gets; or as much as it wants. */
static void limit_memory(bool is_limited)
{
	struct rlimit limit;
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%lu", &pages), 1);
	fclose(file);
	assert_int_equal(getrlimit(RLIMIT_AS, &limit), 0);
	limit.rlim_cur = is_limited ? pages * (rlim_t)sysconf(_SC_PAGESIZE) : limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
}

/* What has no memory is counted, breaks nothing, and is not lost: it is in the next frame. */
TEST(without_memory)
{
	struct zone_query query = ZONE_QUERY_INIT;
	struct zone_reading reading;
	struct zone_tick tick;
	struct program p;
	uint32_t first;
	bool is_done;

	if (getenv("SANITIZED"))
		skip();
	program_init(&p, 1 << 16);
	frame(&p, 10, 1, 1);
	first = p.m.header->zones.count;
	for (uint32_t i = 0; i < 100; i++)
		zone_maker_zone(&p.m, "one of many", NULL, i);
	for (uint32_t i = 0; i < 10000; i++) {
		if (i % 100 == 0)
			zone_maker_enter(&p.m, p.slot, first + i / 100);
		zone_maker_spend(&p.m, p.slot, first + i % 100, 1);
		if (i % 100 == 99)
			zone_maker_leave(&p.m, p.slot);
	}
	limit_memory(true);
	is_done = zone_reader_read(p.f.reader, &p.m.region, &reading);
	limit_memory(false);
	assert_false(is_done);
	assert_true(zone_reader_read(p.f.reader, &p.m.region, &reading));
	limit_memory(true);
	is_done = zone_difference_take(p.f.difference, &reading, &tick);
	limit_memory(false);
	assert_false(is_done);
	assert_true(zone_difference_take(p.f.difference, &reading, &tick));
	assert_int_equal(tick.head.delta_count, 10100);
	limit_memory(true);
	is_done = zone_history_add(p.f.history, &reading, &tick);
	limit_memory(false);
	assert_false(is_done);
	assert_int_equal(zone_history_frame_count(p.f.history), 1);
	assert_true(zone_history_add(p.f.history, &reading, &tick));
	limit_memory(true);
	is_done = zone_report_create(p.f.history, &query) != NULL;
	limit_memory(false);
	assert_false(is_done);
	program_deinit(&p);
}

/* Ticks of nodes that nobody has, of zones beyond all, twice the same: nothing breaks. */
TEST(hostile_ticks)
{
	struct zonewire_delta delta[] = {{1, 1, 5}, {1, 1, 5}, {999, 1, 7}, {0, 1, 9},
		{2, UINT32_MAX, UINT64_MAX}, {UINT32_MAX, 1, 1}};
	struct zone_place place[] = {{0, 0, 0, 0}, {1, 1, 0, 0}, {500, 1, 0, 1}};
	struct zone_counts counts[3] = {{0, 0}};
	uint8_t is_open[3] = {0};
	struct zone_reading reading = {
		.node_count = 3, .place = place, .counts = counts, .is_open = is_open};
	struct zone_tick tick = {{.end_ticks = UINT64_MAX, .delta_count = 6}, delta};
	struct zone_history *history = zone_history_create(0, 1 << 12);

	assert_non_null(history);
	for (int i = 0; i < 5; i++)
		assert_true(zone_history_add(history, &reading, &tick));
	for (unsigned mode = 0; mode < ZONE_MODES; mode++) {
		struct zone_query query = ZONE_QUERY_INIT;
		struct zone_report *report;

		query.mode = (enum zone_mode)mode;
		query.recursion = mode % 2 ? ZONE_SPREAD : ZONE_FLATTEN;
		query.focus = 500;
		query.focus_depth = 77;
		query.frame = mode % 3;
		report = zone_report_create(history, &query);
		assert_non_null(report);
		zone_report_destroy(report);
	}
	zone_history_destroy(history);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures),
		cmocka_unit_test(averages),
		cmocka_unit_test(nine_tenths),
		cmocka_unit_test(frame_time_is_right_at_once),
		cmocka_unit_test(heat),
		cmocka_unit_test(history_is_bounded),
		cmocka_unit_test(too_large_a_frame),
		cmocka_unit_test(statistics),
		cmocka_unit_test(pause_and_freeze),
		cmocka_unit_test(gaps),
		cmocka_unit_test(idle_stacks_are_not_read),
		cmocka_unit_test(without_memory),
		cmocka_unit_test(hostile_ticks),
	};

	/* What is large and freed goes back: without_memory counts on it. */
	mallopt(M_MMAP_THRESHOLD, 1 << 14);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
