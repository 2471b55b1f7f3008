/*
 * perf.data: records of all kinds made by hand, in either byte order, and what becomes of them.
 * Whole files of every kind are in tests/golden/perf_data.golden.
 */
#include <stdlib.h>

#include "arch/arch.h"
#include "base/alloc.h"
#include "formats/perf/data_tasks.h"
#include "formats/perf/data_file.h"
#include "../unit.h"

/* Bytes that are written in one byte order. */
struct bytes {
	uint8_t data[4096];
	size_t size;
	bool is_swapped;
};

static void put(struct bytes *b, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		b->data[b->size + (b->is_swapped ? size - 1 - i : i)] = (uint8_t)(value >> 8 * i);
	b->size += size;
}

static void put_words(struct bytes *b, size_t count, const uint64_t *words)
{
	for (size_t i = 0; i < count; i++)
		put(b, words[i], 8);
}

#define PUT(b, ...)                                                                                \
	put_words((b), sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t),                       \
		(uint64_t[]){__VA_ARGS__})

static void put_string(struct bytes *b, const char *text)
{
	size_t size = (strlen(text) / 8 + 1) * 8;

	memset(b->data + b->size, 0, size);
	memcpy(b->data + b->size, text, strlen(text));
	b->size += size;
}

/* Begins a record; record_end writes its size. */
static size_t record_begin(struct bytes *b, uint32_t type, uint16_t misc)
{
	size_t at = b->size;

	put(b, type, 4);
	put(b, misc, 2);
	put(b, 0, 2);
	return at;
}

static void record_end(struct bytes *b, size_t at)
{
	size_t end = b->size;

	b->size = at + 6;
	put(b, end - at, 2);
	b->size = end;
}

static struct perfstream_record record_of(const struct bytes *b, size_t at)
{
	struct perfstream_record record = {0};

	assert_true(perfstream_record_at(b->data + at, b->size - at, b->is_swapped, &record));
	return record;
}

/* ---- events ---- */

/* An attribute of that size: frequency 99, sample_id_all, period in place of what is 0. */
static void put_attr(struct bytes *b, uint32_t size, uint64_t sample_type)
{
	uint8_t flags[8] = {0};
	size_t begin = b->size;

	flags[10 / 8] |= (uint8_t)(1 << (b->is_swapped ? 7 - 10 % 8 : 10 % 8));
	flags[18 / 8] |= (uint8_t)(1 << (b->is_swapped ? 7 - 18 % 8 : 18 % 8));
	put(b, 1, 4);
	put(b, size, 4);
	PUT(b, 1, 99, sample_type, PERFSTREAM_READ_LOST);
	memcpy(b->data + b->size, flags, sizeof(flags));
	b->size += sizeof(flags);
	PUT(b, 0, 0x111, 0x222, 0x333, 0xff0fff);
	memset(b->data + b->size, 0, 4096 - b->size);
	b->data[begin + 108 + b->is_swapped] = 7;
	b->size = begin + size;
}

static void check_attr(uint32_t size, bool is_swapped)
{
	struct bytes b = {.is_swapped = is_swapped};
	struct arena *arena = arena_create();
	struct perf_data_events e;
	struct cursor c;

	perf_data_events_init(&e, arena);
	put_attr(&b, size ? size : 64, 5);
	if (size == 0)
		memset(b.data + 4, 0, 4);
	cursor_init(&c, b.data, b.size, "attr", 0);
	c.is_swapped = is_swapped;
	perf_data_events_add(&e, &c, b.size);
	assert_true(cursor_ok(&c) && cursor_at_end(&c));
	assert_int_equal(e.rows.count, 1);
	const struct perf_data_event *event = &e.rows.data[0];
	assert_int_equal(event->type, 1);
	assert_int_equal(event->config, 1);
	assert_int_equal(event->period, 99);
	assert_int_equal(event->layout.sample_type, 5);
	assert_true(event->is_freq && event->layout.has_trailer);
	assert_int_equal(event->layout.branch_type, size >= 80 ? 0x333 : 0);
	assert_int_equal(event->layout.user_regs, size >= 88 ? 0xff0fff : 0);
	assert_int_equal(event->max_stack, size >= 112 ? 7 : 0);
	perf_data_events_finish(&e);
	assert_true(str_equal(e.rows.data[0].name, STR("task-clock")));
	assert_true(str_equal(e.rows.data[0].unit, STR("ns")));
	perf_data_events_deinit(&e);
	arena_destroy(arena);
}

TEST(attributes_of_any_length)
{
	static const uint32_t sizes[] = {
		0, 64, 72, 80, 88, 96, 104, 112, 120, 128, 136, 144, 152, 400};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		check_attr(sizes[i], false);
		check_attr(sizes[i], true);
	}
}

TEST(attributes_of_impossible_length)
{
	static const uint32_t sizes[] = {1, 63, 5000, UINT32_MAX};
	struct arena *arena = arena_create();
	struct perf_data_events e;

	perf_data_events_init(&e, arena);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct bytes b = {0};
		struct cursor c;

		put_attr(&b, 200, 5);
		b.size = 4;
		put(&b, sizes[i], 4);
		cursor_init(&c, b.data, 200, "attr", 0);
		perf_data_events_add(&e, &c, 200);
		assert_false(cursor_ok(&c));
	}
	assert_int_equal(e.rows.count, 0);
	assert_null(perf_data_events_find(&e, 0));
	perf_data_events_deinit(&e);
	arena_destroy(arena);
}

TEST(names_of_events)
{
	static const struct {
		uint32_t type;
		uint64_t config;
		const char *name, *unit;
	} wanted[] = {
		{0, 0, "cycles", "count"},
		{0, (uint64_t)8 << 32, "cycles", "count"},
		{0, 5, "branch-misses", "count"},
		{1, 0, "cpu-clock", "ns"},
		{1, 2, "page-faults", "count"},
		{3, 0x10000, "L1-dcache-load-misses", "count"},
		{3, 0x2, "LLC-loads", "count"},
		{3, 0xff, "event 3:255", "count"},
		{4, 0x1c2, "raw 0x1c2", "count"},
		{2, 316, "tracepoint 2:316", "count"},
		{0, 99, "event 0:99", "count"},
	};
	struct arena *arena = arena_create();
	struct perf_data_events e;

	perf_data_events_init(&e, arena);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		vec_push(&e.rows, (struct perf_data_event){
					  .type = wanted[i].type, .config = wanted[i].config});
	perf_data_events_finish(&e);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		assert_string_equal(e.rows.data[i].name.data, wanted[i].name);
		assert_string_equal(e.rows.data[i].unit.data, wanted[i].unit);
	}
	perf_data_events_deinit(&e);
	arena_destroy(arena);
}

/* ---- samples ---- */

enum {
	ALL_PLAIN = PERFSTREAM_FIELD_IDENTIFIER | PERFSTREAM_FIELD_IP | PERFSTREAM_FIELD_TID |
		    PERFSTREAM_FIELD_TIME | PERFSTREAM_FIELD_ADDR | PERFSTREAM_FIELD_ID |
		    PERFSTREAM_FIELD_STREAM_ID | PERFSTREAM_FIELD_CPU | PERFSTREAM_FIELD_PERIOD
};

/* WEIGHT, DATA_SRC and what else comes behind the stack. */
#define BEHIND_STACK (1 << 14 | 1 << 15 | 1 << 17 | 1 << 18 | 1 << 19 | 1 << 20)

static const struct perfstream_layout full_layout = {
	.sample_type = ALL_PLAIN | PERFSTREAM_FIELD_READ | PERFSTREAM_FIELD_CALLCHAIN |
		       PERFSTREAM_FIELD_RAW | PERFSTREAM_FIELD_BRANCH_STACK |
		       PERFSTREAM_FIELD_REGS_USER | PERFSTREAM_FIELD_STACK_USER | BEHIND_STACK,
	.read_format = PERFSTREAM_READ_GROUP | PERFSTREAM_READ_ENABLED | PERFSTREAM_READ_ID |
		       PERFSTREAM_READ_LOST,
	.branch_type = PERFSTREAM_BRANCH_HW_INDEX | PERFSTREAM_BRANCH_COUNTERS,
	.user_regs = 0x181,
	.has_trailer = true,
};

static size_t put_full_sample(struct bytes *b)
{
	size_t at = record_begin(b, PERFSTREAM_SAMPLE, PERFSTREAM_MODE_USER);

	PUT(b, 77, 0x401000);
	put(b, 100, 4);
	put(b, (uint32_t)-1, 4);
	PUT(b, 5000, 0xadd, 77, 0x57, 3, 42);
	PUT(b, 2, 999, 10, 77, 0, 20, 78, 1); /* a group of two, with the time it was enabled */
	PUT(b, 3, PERFSTREAM_CONTEXT_USER, 0x401000, 0x402000);
	put(b, 12, 4);
	b->size += 12;			   /* raw data */
	PUT(b, 1, 0, 0x1, 0x2, 0x3, 0xc0); /* one branch, an index before, a counter behind */
	PUT(b, 2, 0xaa, 0x7ff0, 0x401000); /* ax, sp, ip */
	PUT(b, 16);
	memcpy(b->data + b->size, "stackstackstack!", 16);
	b->size += 16;
	PUT(b, 12); /* of which are filled */
	PUT(b, 1, 2, 3, 0, 5, 8, 0x1234);
	record_end(b, at);
	return at;
}

static void check_full_sample(bool is_swapped)
{
	struct bytes b = {.is_swapped = is_swapped};
	struct perfstream_record record = record_of(&b, put_full_sample(&b));
	struct perfstream_sample s;
	struct perfstream_read read;
	uint64_t time_ns;

	assert_true(perfstream_sample_decode(&record, &full_layout, &s));
	assert_int_equal(s.ip, 0x401000);
	assert_int_equal(s.pid, 100);
	assert_int_equal(s.tid, -1);
	assert_int_equal(s.time_ns, 5000);
	assert_int_equal(s.period, 42);
	assert_true(s.has_period && s.has_chain && s.has_regs);
	assert_int_equal(s.chain.count, 3);
	assert_int_equal(perfstream_word(&s.chain, 0), PERFSTREAM_CONTEXT_USER);
	assert_int_equal(perfstream_word(&s.chain, 2), 0x402000);
	assert_int_equal(s.regs.count, 3);
	assert_int_equal(perfstream_word(&s.regs, 1), 0x7ff0);
	assert_int_equal(s.stack_size, 12);
	assert_memory_equal(s.stack, "stackstackst", 12);
	assert_true(perfstream_next_read(&s, &full_layout, &read));
	assert_int_equal(read.value, 10);
	assert_int_equal(read.id, 77);
	assert_true(perfstream_next_read(&s, &full_layout, &read));
	assert_int_equal(read.value, 20);
	assert_int_equal(read.id, 78);
	assert_false(perfstream_next_read(&s, &full_layout, &read));
	assert_int_equal(perfstream_record_id(&record, &full_layout), 77);
	assert_true(perfstream_record_time(&record, &full_layout, &time_ns));
	assert_int_equal(time_ns, 5000);
}

TEST(samples_of_all_fields)
{
	check_full_sample(false);
	check_full_sample(true);
}

/* Cut anywhere it is no sample, and nothing behind its end is read. */
TEST(samples_cut_short)
{
	struct bytes b = {0};
	size_t at = put_full_sample(&b), needed = b.size - 7 * 8;

	for (size_t size = 8; size < needed; size++) {
		uint8_t *copy = xalloc(size);
		struct perfstream_record record;
		struct perfstream_sample s;

		memcpy(copy, b.data + at, size);
		memcpy(copy + 6, &(uint16_t){(uint16_t)size}, 2);
		assert_true(perfstream_record_at(copy, size, false, &record));
		assert_false(perfstream_sample_decode(&record, &full_layout, &s));
		free(copy);
	}
}

TEST(ids_without_identifier)
{
	const struct perfstream_layout layout = {
		.sample_type = PERFSTREAM_FIELD_IP | PERFSTREAM_FIELD_TID | PERFSTREAM_FIELD_TIME |
			       PERFSTREAM_FIELD_ID | PERFSTREAM_FIELD_CPU,
		.has_trailer = true};
	struct bytes b = {0};
	size_t at = record_begin(&b, PERFSTREAM_SAMPLE, 0);
	uint64_t time_ns;

	PUT(&b, 0x1000, 0, 300, 55, 0);
	record_end(&b, at);
	struct perfstream_record record = record_of(&b, at);
	assert_int_equal(perfstream_record_id(&record, &layout), 55);
	assert_true(perfstream_record_time(&record, &layout, &time_ns));
	assert_int_equal(time_ns, 300);

	at = record_begin(&b, PERFSTREAM_COMM, 0);
	PUT(&b, 0);
	put_string(&b, "name");
	PUT(&b, 0, 301, 56, 0);
	record_end(&b, at);
	record = record_of(&b, at);
	assert_int_equal(perfstream_record_id(&record, &layout), 56);
	assert_true(perfstream_record_time(&record, &layout, &time_ns));
	assert_int_equal(time_ns, 301);
}

TEST(mappings_with_and_without_build_id)
{
	struct bytes b = {0};
	struct perfstream_mmap mmap;

	for (int has_id = 0; has_id < 2; has_id++) {
		uint16_t misc = has_id ? PERFSTREAM_MISC_MMAP_BUILD_ID : 0;
		size_t at = record_begin(&b, PERFSTREAM_MMAP2, misc);
		put(&b, 9, 4);
		put(&b, 9, 4);
		PUT(&b, 0x400000, 0x2000, 0x1000);
		PUT(&b, 0xab00000000000008 | (uint64_t)has_id << 32, 0x00cd, 0);
		put(&b, 5, 4);
		put(&b, 2, 4);
		put_string(&b, "/bin/x");
		record_end(&b, at);
		struct perfstream_record record = record_of(&b, at);
		assert_true(perfstream_mmap_decode(&record, &mmap));
		assert_int_equal(mmap.pid, 9);
		assert_int_equal(mmap.low_va, 0x400000);
		assert_int_equal(mmap.file_off, 0x1000);
		assert_true(mmap.is_code);
		assert_true(str_equal(mmap.path, STR("/bin/x")));
		assert_string_equal(mmap.build_id, has_id ? "010000abcd000000" : "");
	}
}

/*
 * What the kernel left marked as a build ID, or a broken file: a device, an inode, its generation.
 */
TEST(mappings_with_an_impossible_build_id)
{
	static const struct {
		uint64_t words[3]; /* minor << 32 | major, inode, generation */
		uint64_t device, inode;
	} cases[] = {
		{{0x00000000000000fe, 248139, 77}, 0xfe00000000, 248139},  /* 254 bytes */
		{{0x0000000000000103, 248139, 77}, 0x10300000000, 248139}, /* no zeros behind it */
		{{0x0000000100000008, 248139, 77}, 0x800000001, 248139},   /* none behind the ID */
		{{0x0000002900000000, 248139, 0}, 0x29, 248139},	   /* no bytes */
		{{0x0000000000000015, 248139, 0}, 0x1500000000, 248139},   /* 21 bytes */
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct bytes b = {0};
		struct perfstream_mmap mmap;
		size_t at = record_begin(&b, PERFSTREAM_MMAP2, PERFSTREAM_MISC_MMAP_BUILD_ID);
		put(&b, 9, 4);
		put(&b, 9, 4);
		PUT(&b, 0x400000, 0x2000, 0x1000);
		PUT(&b, cases[i].words[0], cases[i].words[1], cases[i].words[2]);
		put(&b, 5, 4);
		put(&b, 2, 4);
		put_string(&b, "/bin/x");
		record_end(&b, at);
		struct perfstream_record record = record_of(&b, at);
		assert_true(perfstream_mmap_decode(&record, &mmap));
		assert_string_equal(mmap.build_id, "");
		assert_int_equal(mmap.device, cases[i].device);
		assert_int_equal(mmap.inode, cases[i].inode);
	}
}

TEST(mappings_of_data)
{
	struct bytes b = {0};
	struct perfstream_mmap mmap;

	size_t at = record_begin(&b, PERFSTREAM_MMAP, PERFSTREAM_MISC_MMAP_DATA);

	PUT(&b, 9, 0x1000, 0x1000, 0);
	put_string(&b, "/data");
	record_end(&b, at);
	struct perfstream_record record = record_of(&b, at);

	assert_true(perfstream_mmap_decode(&record, &mmap));
	assert_false(mmap.is_code);
	/* One that goes round the end of memory is none. */
	memset(b.data + at + 16, 0xff, 8);
	assert_false(perfstream_mmap_decode(&record, &mmap));
}

/* ---- order ---- */

/* A pipe's file: an event of that sample type, then records. */
static void begin_file(struct bytes *b, uint64_t sample_type)
{
	memcpy(b->data, "PERFILE2", 8);
	b->size = 8;
	PUT(b, 16);
	size_t at = record_begin(b, PERF_DATA_ATTR, 0);
	struct bytes attr = {0};

	put_attr(&attr, 64, sample_type);
	memcpy(b->data + b->size, attr.data, attr.size);
	b->size += attr.size;
	record_end(b, at);
}

static void add_record(struct bytes *b, uint32_t type, uint64_t mark, uint64_t time_ns)
{
	size_t at = record_begin(b, type, 0);

	if (type == PERFSTREAM_FORK) {
		PUT(b, mark, 0, 0);
		PUT(b, time_ns);
	} else if (type != PERF_DATA_FINISHED_ROUND) {
		PUT(b, mark, time_ns);
	}
	record_end(b, at);
}

/* The first words of the records, in order. */
static void check_order(const struct bytes *b, size_t count, const uint64_t *marks)
{
	struct reader_input input = {.name = "test", .data = b->data, .size = b->size};
	struct arena *arena = arena_create();
	struct perf_data_file file;
	struct error *err = perf_data_open(&input, arena, &file);

	assert_null(err);
	assert_int_equal(file.record_count, count);
	for (size_t i = 0; i < count; i++) {
		struct perfstream_record record = perf_data_record(&file, i);
		struct cursor c = perfstream_body(&record);

		assert_int_equal(cursor_u64(&c), marks[i]);
	}
	perf_data_close(&file);
	arena_destroy(arena);
}

TEST(records_by_time)
{
	struct bytes b = {0};

	begin_file(&b, PERFSTREAM_FIELD_IP | PERFSTREAM_FIELD_TIME);
	add_record(&b, PERFSTREAM_SAMPLE, 1, 100);
	add_record(&b, PERFSTREAM_SAMPLE, 2, 300);
	add_record(&b, PERFSTREAM_SAMPLE, 3, 200);
	add_record(&b, PERFSTREAM_SAMPLE, 4, 200);
	add_record(&b, PERFSTREAM_FORK, 5, 150);
	check_order(&b, 5, (uint64_t[]){1, 5, 3, 4, 2});
}

/* Without sample_id_all, records of tasks come before samples of their round and the one before. */
TEST(records_without_time)
{
	struct bytes b = {0};

	begin_file(&b, PERFSTREAM_FIELD_IP | PERFSTREAM_FIELD_TIME);
	memset(b.data + 16 + 8 + 40, 0, 8); /* the flags */
	add_record(&b, PERFSTREAM_SAMPLE, 1, 100);
	add_record(&b, PERFSTREAM_FORK, 2, 0);
	add_record(&b, PERF_DATA_FINISHED_ROUND, 0, 0);
	add_record(&b, PERFSTREAM_SAMPLE, 3, 200);
	add_record(&b, PERF_DATA_FINISHED_ROUND, 0, 0);
	add_record(&b, PERFSTREAM_SAMPLE, 4, 300);
	add_record(&b, PERFSTREAM_FORK, 5, 0);
	check_order(&b, 5, (uint64_t[]){2, 1, 5, 3, 4});
}

/* ---- tasks ---- */

static void map_code(struct perf_data_tasks *t, int64_t pid, uint64_t low_va, uint32_t object)
{
	perf_data_tasks_map(t, perf_data_tasks_process(t, pid, 0),
		&(struct unwind_mapping){
			.low_va = low_va, .high_va = low_va + 0x1000, .object = object});
}

/* The object at that address in the process; -1: none. */
static int object_at(struct perf_data_tasks *t, int64_t pid, uint64_t va)
{
	const struct unwind_mapping *m =
		perf_data_tasks_find(t, perf_data_tasks_process(t, pid, 0), va);

	return m ? (int)m->object : -1;
}

TEST(spaces_of_forks_and_execs)
{
	struct arena *arena = arena_create();
	struct perf_data_tasks t;

	perf_data_tasks_init(&t, arena, &arch_x86_64, 1000);
	map_code(&t, 10, 0x1000, 1);
	perf_data_tasks_fork(&t, 20, 10, 20, 5);
	perf_data_tasks_fork(&t, 30, 20, 30, 6);
	assert_int_equal(object_at(&t, 30, 0x1800), 1);
	map_code(&t, 20, 0x1000, 2); /* is its own: neither parent nor child sees it */
	assert_int_equal(object_at(&t, 10, 0x1800), 1);
	assert_int_equal(object_at(&t, 20, 0x1800), 2);
	assert_int_equal(object_at(&t, 30, 0x1800), 1);
	perf_data_tasks_comm(&t, 30, 30, true, STR("other"), 7);
	assert_int_equal(object_at(&t, 30, 0x1800), -1);
	assert_int_equal(object_at(&t, 10, 0x1800), 1);
	perf_data_tasks_comm(&t, 20, 20, false, STR("named"), 8);
	assert_int_equal(object_at(&t, 20, 0x1800), 2);
	/* A pid that is used again is another process. */
	uint32_t before = perf_data_tasks_process(&t, 30, 9);
	perf_data_tasks_fork(&t, 30, 10, 30, 9);
	assert_int_not_equal(perf_data_tasks_process(&t, 30, 9), before);
	assert_int_equal(object_at(&t, 30, 0x1800), 1);
	perf_data_tasks_deinit(&t);
	arena_destroy(arena);
}

/* However many there are said to be, memory stays in proportion. */
TEST(tasks_without_end)
{
	struct arena *arena = arena_create();
	struct perf_data_tasks t;

	perf_data_tasks_init(&t, arena, &arch_x86_64, 0);
	for (int64_t pid = 1; pid <= 300000; pid++)
		perf_data_tasks_fork(&t, pid, pid - 1, pid, 1);
	assert_true(t.processes.count <= t.most && t.threads.count <= t.most);
	assert_true(t.unkept_tasks > 0);
	perf_data_tasks_deinit(&t);
	arena_destroy(arena);
}

/* Each copy of a space, and each change in its midst, takes of what work there is. */
TEST(maps_without_end)
{
	struct arena *arena = arena_create();
	struct perf_data_tasks t;

	perf_data_tasks_init(&t, arena, &arch_x86_64, 0);
	t.work = 100000;
	for (uint64_t i = 0; i < 3000; i++)
		map_code(&t, 1, (4000 - i) * 0x1000, (uint32_t)i);
	assert_true(t.unkept_maps > 0);
	assert_true(t.processes.data[0].space->space.count < 1000);
	perf_data_tasks_deinit(&t);
	arena_destroy(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(attributes_of_any_length),
		cmocka_unit_test(attributes_of_impossible_length),
		cmocka_unit_test(names_of_events),
		cmocka_unit_test(samples_of_all_fields),
		cmocka_unit_test(samples_cut_short),
		cmocka_unit_test(ids_without_identifier),
		cmocka_unit_test(mappings_with_and_without_build_id),
		cmocka_unit_test(mappings_with_an_impossible_build_id),
		cmocka_unit_test(mappings_of_data),
		cmocka_unit_test(records_by_time),
		cmocka_unit_test(records_without_time),
		cmocka_unit_test(spaces_of_forks_and_execs),
		cmocka_unit_test(tasks_without_end),
		cmocka_unit_test(maps_without_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
