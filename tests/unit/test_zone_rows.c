/*
 * The recorder's part of zones, on memory made by hand: rows add up to the counters whatever the
 * ring of ticks has lost, and two clocks are brought together.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../unit.h"
#include "../zone_region.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/vec.h"
#include "formats/sonde/layout/capture_chunk.h"
#include "formats/sonde/layout/capture_rows.h"
#include "formats/sonde/layout/capture_samples.h"
#include "record/zones/zone_rows.h"

struct fixture {
	struct zone_maker maker;
	struct capture_writer *writer;
	struct recording recording;
	struct zone_context context;
	struct zone_program *program;
	char *path;
	uint32_t slot, physics;
};

static void begin(struct fixture *f, uint64_t ring_bytes)
{
	struct live_memory memory = {0};

	*f = (struct fixture){.path = xasprintf("/tmp/sonde-rows-%d.prof", (int)getpid())};
	zone_maker_init(&f->maker, 64, 256, 8, ring_bytes);
	f->maker.header->pid = getpid();
	f->slot = zone_maker_slot(&f->maker, "main", getpid());
	f->physics = zone_maker_zone(&f->maker, "physics", "p.c", 7);
	assert_null(capture_writer_create(f->path, &f->writer));
	recording_begin(&f->recording, f->writer, clock_monotonic_ns());
	recording_measure(&f->recording, false, false, NULL, 0);
	(void)process_table_get(f->recording.processes, getpid(), f->recording.start_ns);
	f->context.recording = &f->recording;
	zone_names_init(&f->context.names, f->writer, f->recording.objects);
	/* The maker's memory stays the maker's. */
	memory.data = f->maker.data;
	memory.region = f->maker.region;
	memory.size = f->maker.region.size;
	f->program = zone_program_create(getpid(), &memory, -1, true);
	assert_non_null(f->program);
	zone_rows_begin(f->program);
}

/* What of zones is in a file. */
struct written {
	VEC(struct capture_sample) rows;
	VEC(struct capture_tick) ticks; /* without their streams */
	int64_t time_ns, entries;	/* of all rows */
};

static void take_chunk(struct written *w, uint8_t type, struct cursor *payload)
{
	struct capture_samples_decoder d;
	struct capture_sample row;
	struct capture_tick tick;

	while (type == CAPTURE_CHUNK_TICKS && capture_get_tick(payload, &tick))
		vec_push(&w->ticks, tick);
	if (type != CAPTURE_CHUNK_ZONE_ROWS)
		return;
	assert_null(capture_samples_begin(&d, payload));
	while (capture_samples_next(&d, &row)) {
		vec_push(&w->rows, row);
		w->time_ns += row.weight[0];
		w->entries += row.weight[1];
	}
}

static void read_back(const char *path, struct written *w)
{
	struct capture_unpacker *unpacker = capture_unpacker_create();
	struct capture_scan scan;
	struct capture_chunk chunk;
	struct file_bytes bytes;
	struct cursor payload;

	assert_null(file_read(path, 0, &bytes));
	capture_scan_init(&scan, bytes.data, bytes.size);
	while (capture_scan_next(&scan, &chunk)) {
		assert_null(capture_unpack(unpacker, &chunk, "test", &payload));
		take_chunk(w, chunk.type, &payload);
	}
	capture_unpacker_destroy(unpacker);
	file_bytes_deinit(&bytes);
}

static void end(struct fixture *f, struct written *w)
{
	*w = (struct written){0};
	zone_rows_end(f->program, &f->context);
	f->program->memory = (struct live_memory){0};
	zone_program_destroy(f->program);
	zone_names_deinit(&f->context.names);
	assert_null(capture_writer_finish(f->writer, NULL));
	recording_end(&f->recording);
	read_back(f->path, w);
	(void)unlink(f->path);
	zone_maker_deinit(&f->maker);
	free(f->path);
}

static void written_deinit(struct written *w)
{
	vec_deinit(&w->rows);
	vec_deinit(&w->ticks);
}

/* A tick in which physics was entered so often, each for 1000 ticks of the clock. */
static void add_tick(struct fixture *f, uint64_t number, uint32_t entries)
{
	uint64_t start = f->maker.header->now_ticks;
	uint32_t node = zone_maker_node(&f->maker, f->maker.slot[f->slot].root, f->physics);

	for (uint32_t i = 0; i < entries; i++)
		zone_maker_spend(&f->maker, f->slot, f->physics, 1000);
	const struct zonewire_delta delta = {
		.node = node, .entries = entries, .self_ticks = 1000ull * entries};
	const struct zonewire_tick tick = {
		.bytes = sizeof(tick) + sizeof(delta),
		.number = number,
		.start_ticks = start,
		.end_ticks = f->maker.header->now_ticks,
		.delta_count = 1,
	};

	zone_maker_tick(&f->maker, &tick, &delta);
}

TEST(rows_of_ticks_are_exact)
{
	struct fixture f;

	begin(&f, 1 << 16);
	for (uint64_t i = 0; i < 50; i++) {
		add_tick(&f, i, (uint32_t)i % 4 + 1);
		if (i % 7 == 0)
			zone_rows_look(f.program, &f.context);
	}
	zone_maker_pass(&f.maker, 5000);
	struct written w;
	uint64_t tick = 0;

	end(&f, &w);
	assert_int_equal(w.ticks.count, 50);
	assert_int_equal(f.context.counts.lost_ticks, 0);
	/* Rows come tick by tick: those of physics first, then what is in none. */
	for (size_t i = 0; i < w.rows.count && tick < 50; i++, tick++) {
		const struct capture_tick *t = &w.ticks.data[tick];

		assert_int_equal(w.rows.data[i].time_ns, t->start_ns + t->duration_ns);
		assert_int_equal(w.rows.data[i].weight[0], 1000 * (tick % 4 + 1));
		assert_int_equal(w.rows.data[i].weight[1], tick % 4 + 1);
	}
	assert_int_equal(tick, 50);
	/* 123 entries of 1000, and what the root had. */
	assert_int_equal(w.time_ns, 123000 + 5000);
	assert_int_equal(w.entries, 123 + 1);
	written_deinit(&w);
}

/* A ring that holds ten ticks, and a hundred are put into it. */
TEST(lost_ticks_lose_no_time)
{
	struct fixture f;

	begin(&f, 1024);
	for (uint64_t i = 0; i < 3; i++)
		add_tick(&f, i, 2);
	zone_rows_look(f.program, &f.context);
	for (uint64_t i = 3; i < 100; i++)
		add_tick(&f, i, 2);
	zone_rows_look(f.program, &f.context);
	for (uint64_t i = 100; i < 105; i++)
		add_tick(&f, i, 2);
	struct written w;

	end(&f, &w);
	assert_true(f.context.counts.lost_ticks > 50);
	assert_int_equal(w.ticks.count + f.context.counts.lost_ticks, 105);
	assert_int_equal(w.time_ns, 210000);
	assert_int_equal(w.entries, 211);
	written_deinit(&w);
}

/* Frames that were paused are in no tick, and in the sums. */
TEST(gaps_are_in_no_tick)
{
	struct fixture f;
	struct zonewire_delta delta = {.entries = 1, .self_ticks = 1000};

	begin(&f, 1 << 16);
	add_tick(&f, 0, 1);
	zone_maker_spend(&f.maker, f.slot, f.physics, 7000);
	delta.node = zone_maker_node(&f.maker, f.maker.slot[f.slot].root, f.physics);
	struct zonewire_tick tick = {.bytes = sizeof(tick) + sizeof(delta),
		.number = 1,
		.start_ticks = f.maker.header->now_ticks,
		.delta_count = 1,
		.flags = ZONEWIRE_TICK_AFTER_GAP};

	zone_maker_spend(&f.maker, f.slot, f.physics, 1000);
	tick.end_ticks = f.maker.header->now_ticks;
	zone_maker_tick(&f.maker, &tick, &delta);
	struct written w;
	uint64_t in_tick = 0;

	end(&f, &w);
	assert_int_equal(w.ticks.count, 2);
	assert_int_equal(w.time_ns, 9000);
	assert_int_equal(w.entries, 3 + 1);
	for (size_t i = 0; i < w.rows.count; i++)
		in_tick += w.rows.data[i].weight[0] == 1000;
	assert_int_equal(in_tick, 2);
	written_deinit(&w);
}

/* The clock of this very machine: there and back again, within what it takes to read it. */
TEST(clocks_are_brought_together)
{
	struct zone_maker maker;
	struct zone_clock clock;

	zone_maker_init(&maker, 8, 8, 1, 1024);
	struct zone_region region = maker.region;

	region.header.clock = ZONEWIRE_CLOCK_MONOTONIC;
	region.header.start_ticks = zone_region_now(&region);
	region.header.start_monotonic_ns = clock_monotonic_ns();
	zone_clock_init(&clock, &region);
	for (int i = 0; i < 200; i++) {
		usleep(100);
		zone_clock_look(&clock);
		uint64_t time_ns = clock_monotonic_ns();
		uint64_t ticks = zone_clock_ticks(&clock, time_ns);
		uint64_t back_ns = zone_clock_time_ns(&clock, ticks);

		assert_true(back_ns <= time_ns + 2 && time_ns <= back_ns + 2);
		/* Read a moment later. */
		assert_true(ticks <= zone_region_now(&region) + 10000);
	}
	assert_in_range(clock.count, 2, ZONE_CLOCK_PAIRS);
	for (uint32_t i = 1; i < clock.count; i++) {
		const struct zone_clock_pair *pair = &clock.pairs[i];

		assert_int_equal(zone_clock_time_ns(&clock, pair->ticks), pair->time_ns);
		assert_int_equal(zone_clock_ticks(&clock, pair->time_ns), pair->ticks);
	}
	zone_maker_deinit(&maker);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_of_ticks_are_exact),
		cmocka_unit_test(lost_ticks_lose_no_time),
		cmocka_unit_test(gaps_are_in_no_tick),
		cmocka_unit_test(clocks_are_brought_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
