/*
 * Zones in capture files: what is written comes back, through the rewriting of a finished file too,
 * and costs little.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../capture_files.h"
#include "../unit.h"
#include "base/alloc.h"
#include "formats/sonde/layout/capture_rows.h"
#include "record/file/capture_compact.h"

enum { ZONES = 9, SAMPLES = 40000, ROWS = 5000, EVENTS = 5000, TICKS = 300 };

/* A stack of zones each: zone i is called from zone i / 2; node 1 is the code of all samples. */
static uint32_t zone_node(uint32_t zone)
{
	return 1 + zone;
}

static uint64_t random_state;

static uint32_t below(uint32_t limit)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((random_state >> 33) * limit >> 31);
}

static void name_zone(struct capture_writer *w, uint32_t zone)
{
	char name[16];

	snprintf(name, sizeof(name), "zone%u", zone);
	const struct capture_symbol_frame frame = {.function = str_from(name),
		.file = STR("z.c"),
		.function_file = STR("z.c"),
		.line = zone,
		.function_line = zone};

	capture_writer_symbol(w, 1, zone, &frame, 1);
}

static struct capture_writer *begin(const char *path)
{
	struct capture_writer *w;

	assert_null(capture_writer_create(path, &w));
	capture_writer_metric(w, 0, STR("cpu-time"), STR("ns"));
	capture_writer_object(w, 0, STR("/bin/a"), STR(""), CAPTURE_OBJECT_USER);
	capture_writer_object(w, 1, STR("[zones]"), STR(""), CAPTURE_OBJECT_ZONE);
	capture_writer_process(w, 0, 7, CAPTURE_NO_ID, 0, STR("a"));
	capture_writer_thread(w, 0, 0, 7, 0, STR("a"));
	capture_writer_thread(w, 1, 0, 8, 0, STR("b"));
	capture_writer_node(w, 1, 0, 0, 0x1000);
	capture_writer_symbol(
		w, 0, 0x1000, &(struct capture_symbol_frame){.function = STR("f")}, 1);
	for (uint32_t zone = 1; zone <= ZONES; zone++) {
		capture_writer_node(
			w, zone_node(zone), zone > 1 ? zone_node(zone / 2) : 0, 1, zone);
		name_zone(w, zone);
	}
	return w;
}

/* Of sample i: three in a row are in one zone, these in no simple order. */
static uint32_t sample_zone(uint32_t i)
{
	uint32_t chance = (i / 3 * 2654435761u) >> 16;

	return chance % 5 == 4 ? 0 : zone_node(1 + chance / 5 % ZONES);
}

static void add_samples(struct capture_writer *w, bool zones)
{
	const int64_t weight = 1000000;

	for (uint32_t i = 0; i < SAMPLES; i++) {
		capture_writer_sample(
			w, 1000000u * i, i & 1, 1, zones ? sample_zone(i) : 0, 0, &weight);
		capture_writer_flush(w, 1000000u * i + 1);
	}
}

static struct capture_zone_row row_of(uint32_t i)
{
	return (struct capture_zone_row){.time_ns = 16666667u * (i / 8) + 3,
		.thread = i & 1,
		.node = zone_node(1 + i % ZONES),
		.self_ns = 100000 + 7919u * i % 5000,
		.entries = i % 4};
}

static uint64_t write_file(const char *path, bool zones)
{
	struct capture_writer *w = begin(path);
	uint64_t size;

	add_samples(w, zones);
	for (uint32_t i = 0; zones && i < ROWS; i++) {
		struct capture_zone_row row = row_of(i);
		capture_writer_zone_row(w, &row);
	}
	for (uint32_t i = 0; zones && i < EVENTS; i++)
		capture_writer_zone_event(w, 1001u * i, i & 1, i % 10 ? zone_node(1 + i % 9) : 0);
	for (uint32_t i = 0; zones && i < TICKS; i++)
		capture_writer_tick(w, &(struct capture_tick){.process = 0,
					       .stream = i % 3 ? STR("frame") : STR("audio"),
					       .number = i,
					       .start_ns = 1000u * i,
					       .duration_ns = 999,
					       .thread = i % 4 ? i & 1 : CAPTURE_NO_ID});
	assert_null(capture_writer_finish(w, &size));
	return size;
}

/* The innermost zone's number; 0: none. */
static uint32_t leaf_zone(const struct profile *p, stack_id stack)
{
	if (stack.i == 0)
		return 0;
	const struct frame *f = &p->frames[p->stack_frame[stack.i].i];
	const struct function *function = &p->functions[f->function.i];

	assert_int_equal(p->objects[function->object.i].kind, OBJECT_ZONE);
	assert_int_equal(f->obj_addr, 0);
	assert_int_equal(f->line, function->line);
	return function->line;
}

static void expect_samples(const struct profile *p)
{
	metric_id time, entries, count;

	assert_true(profile_find_metric(p, STR(ZONE_TIME), &time));
	assert_true(profile_find_metric(p, STR(ZONE_ENTRIES), &entries));
	assert_true(profile_find_metric(p, STR("samples"), &count));
	assert_int_equal(p->samples.count, SAMPLES + ROWS);
	assert_int_equal(p->total[count.i], SAMPLES);
	assert_int_equal(p->stats.counted, SAMPLES);
	for (uint32_t i = 0; i < SAMPLES; i++) {
		uint32_t zone = leaf_zone(p, p->samples.zone[i]);

		assert_int_equal(zone ? zone_node(zone) : 0, sample_zone(i));
		assert_int_equal(p->samples.weight[time.i][i], 0);
	}
	for (uint32_t i = 0; i < ROWS; i++) {
		struct capture_zone_row row = row_of(i);
		size_t at = SAMPLES + i;

		assert_int_equal(zone_node(leaf_zone(p, p->samples.stack[at])), row.node);
		assert_int_equal(p->samples.zone[at].i, p->samples.stack[at].i);
		assert_int_equal(p->samples.time_ns[at], row.time_ns);
		assert_int_equal(p->samples.weight[time.i][at], row.self_ns);
		assert_int_equal(p->samples.weight[entries.i][at], row.entries);
		assert_int_equal(p->samples.weight[p->default_metric.i][at], 0);
	}
}

/* Each entry of a zone was a call by the zone around it. */
static void expect_calls(const struct profile *p)
{
	uint64_t calls = 0, entries = 0, spontaneous = 0;

	for (size_t i = 0; i < p->arc_count; i++) {
		calls += p->arcs[i].calls;
		spontaneous += p->arcs[i].caller.i == NO_ID ? p->arcs[i].calls : 0;
	}
	for (uint32_t i = 0; i < ROWS; i++)
		entries += row_of(i).entries;
	assert_int_equal(calls, entries);
	assert_in_range(spontaneous, 1, entries / 5);
}

static void expect_file(const char *path)
{
	struct profile *p = capture_read_file(path);

	expect_samples(p);
	expect_calls(p);
	assert_int_equal(p->tick_count, TICKS);
	assert_string_equal(profile_string(p, p->ticks[0].stream).data, "audio");
	assert_int_equal(p->ticks[1].number, 3);
	assert_int_equal(p->ticks[1].end_ns, 3999);
	assert_int_equal(p->zone_events.count, EVENTS);
	assert_int_equal(p->zone_events.time_ns[7], 14 * 1001);
	assert_int_equal(leaf_zone(p, p->zone_events.stack[7]), 1 + 14 % 9);
	assert_int_equal(p->note_count, 0);
	profile_destroy(p);
}

TEST(zones_come_back)
{
	char *path = capture_file_path("zones.prof"), *plain = capture_file_path("plain.prof");
	uint64_t with, without;

	with = write_file(path, true);
	expect_file(path);
	without = write_file(plain, false);
	printf("# %.2f bytes a row, event, tick or zone\n",
		(double)(with - without) / (ROWS + EVENTS + TICKS + SAMPLES));
	assert_true(with > without);
	free(path);
	free(plain);
}

/* The zone column alone, of samples whose zone changes at every third. */
TEST(a_samples_zone_costs_less_than_a_byte)
{
	uint64_t size[2];

	for (int zones = 0; zones < 2; zones++) {
		char *path = capture_file_path("cost.prof");
		struct capture_writer *w = begin(path);

		add_samples(w, zones);
		assert_null(capture_writer_finish(w, &size[zones]));
		free(path);
	}
	printf("# %.4f bytes a sample for its zone\n", (double)(size[1] - size[0]) / SAMPLES);
	assert_true(size[1] - size[0] < SAMPLES);
}

/* Zones far apart, in no order, more than are remembered. */
TEST(any_zones_come_back)
{
	enum { NODES = 1000, COUNT = 5000 };
	char *path = capture_file_path("any.prof");
	struct capture_writer *w = begin(path);
	static uint32_t zones[COUNT];
	const int64_t weight = 1;

	for (uint32_t i = 0; i < NODES; i++)
		capture_writer_node(w, zone_node(ZONES) + 1 + i, 0, 1, ZONES + 1 + i);
	for (uint32_t i = 0; i < NODES; i++)
		name_zone(w, ZONES + 1 + i);
	random_state = 3;
	for (uint32_t i = 0; i < COUNT; i++) {
		zones[i] = below(3) ? zone_node(1 + below(NODES)) : 0;
		capture_writer_sample(w, 1000 * i, 0, 1, zones[i], 0, &weight);
	}
	assert_null(capture_writer_finish(w, NULL));
	struct profile *p = capture_read_file(path);

	for (uint32_t i = 0; i < COUNT; i++) {
		uint32_t zone = leaf_zone(p, p->samples.zone[i]);

		assert_int_equal(zone ? zone_node(zone) : 0, zones[i]);
	}
	profile_destroy(p);
	free(path);
}

/* Stacks that are left out take no zones with them. */
TEST(selected_files_keep_their_zones)
{
	char *path = capture_file_path("selected.prof");
	uint8_t fates[1 + 1 + ZONES];
	uint64_t size;

	(void)write_file(path, true);
	memset(fates, CAPTURE_KEEPS, sizeof(fates));
	fates[1] = CAPTURE_DROPS;
	assert_null(capture_select(path, fates, sizeof(fates), &size));
	struct profile *p = capture_read_file(path);

	assert_int_equal(p->samples.count, SAMPLES + ROWS);
	for (uint32_t i = 0; i < SAMPLES; i++) {
		uint32_t zone = leaf_zone(p, p->samples.zone[i]);

		const struct frame *f = &p->frames[p->stack_frame[p->samples.stack[i].i].i];
		struct str name = profile_string(p, p->functions[f->function.i].name);

		assert_string_equal(name.data, "[no stack]");
		assert_int_equal(zone ? zone_node(zone) : 0, sample_zone(i));
	}
	profile_destroy(p);
	free(path);
}

/* A file that was not finished has them, too, and names. */
TEST(cut_files_have_zones)
{
	char *path = capture_file_path("cut.prof"), *message;
	struct file_bytes bytes;

	(void)write_file(path, true);
	bytes = capture_file_bytes(path);
	for (size_t size = bytes.size - 1; size > bytes.size / 2; size -= bytes.size / 40) {
		struct profile *p = capture_read_bytes(bytes.data, size, &message);

		assert_non_null(p);
		for (size_t i = 0; p->samples.zone && i < p->samples.count; i++)
			assert_in_range(leaf_zone(p, p->samples.zone[i]), 0, ZONES);
		profile_destroy(p);
	}
	file_bytes_deinit(&bytes);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(zones_come_back),
		cmocka_unit_test(a_samples_zone_costs_less_than_a_byte),
		cmocka_unit_test(any_zones_come_back),
		cmocka_unit_test(selected_files_keep_their_zones),
		cmocka_unit_test(cut_files_have_zones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
