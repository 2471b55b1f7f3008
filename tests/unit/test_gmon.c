/*
 * gmon.out: which symbol a tick belongs to, that ticks and times are whole and add up however bins
 * and functions lie to each other, and that no file does harm.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../gmon_program.h"
#include "../profile_checks.h"
#include "../random_profile.h"
#include "../read_profile.h"
#include "../scratch.h"
#include "../unit.h"
#include "base/alloc.h"
#include "obj/function_symbols.h"
#include "obj/objfile.h"
#include "formats/gprof/gmon_file.h"
#include "formats/readers.h"

struct fixture {
	char *folder, *program;
	struct strbuf elf;
};

static int set_up(void **state)
{
	struct fixture *f = xalloc(sizeof(*f));

	f->folder = scratch_create();
	f->program = xasprintf("%s/program", f->folder);
	gmon_program_write(&f->elf);
	FILE *file = fopen(f->program, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(f->elf.data, 1, f->elf.size, file), f->elf.size);
	fclose(file);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	scratch_destroy(f->folder);
	free(f->program);
	strbuf_deinit(&f->elf);
	free(f);
	return 0;
}

/* ---- files ---- */

static void add_number(struct strbuf *out, uint64_t number, size_t size)
{
	for (size_t i = 0; i < size; i++)
		strbuf_add_char(out, (char)(i < 8 ? number >> 8 * i : 0));
}

static struct strbuf file_begin(void)
{
	struct strbuf out = {0};

	strbuf_add(&out, STR("gmon"));
	add_number(&out, 1, 4);
	add_number(&out, 0, 12);
	return out;
}

static void add_histogram(struct strbuf *out, uint64_t low, uint64_t high, uint32_t rate,
	const char *dimension, const uint16_t *bins, uint32_t count)
{
	char name[15] = {0};

	strbuf_add_char(out, 0);
	add_number(out, low, 8);
	add_number(out, high, 8);
	add_number(out, count, 4);
	add_number(out, rate, 4);
	memcpy(name, dimension, strlen(dimension));
	strbuf_add(out, (struct str){name, sizeof(name)});
	strbuf_add_char(out, dimension[0]);
	for (uint32_t i = 0; i < count; i++)
		add_number(out, bins[i], 2);
}

static void add_arc(struct strbuf *out, uint64_t from, uint64_t self, uint32_t calls)
{
	strbuf_add_char(out, 1);
	add_number(out, from, 8);
	add_number(out, self, 8);
	add_number(out, calls, 4);
}

static struct error *try_read(
	const struct fixture *f, const struct strbuf *file, struct profile **p)
{
	/* A copy of just that size, so that a read behind it is seen by ASan. */
	uint8_t *data = xalloc(file->size);
	struct reader_input input = {
		.name = "gmon.out", .data = data, .size = file->size, .exe = f->program};

	memcpy(data, file->data, file->size);
	struct error *err = profile_read_bytes(&input, "gmon", p);
	free(data);
	return err;
}

static struct profile *read_file(const struct fixture *f, struct strbuf *file)
{
	struct profile *p = NULL;
	struct error *err = try_read(f, file, &p);

	if (err)
		fail_msg("%s", err->message);
	strbuf_deinit(file);
	return p;
}

static void expect_error(const struct fixture *f, struct strbuf *file, const char *wanted)
{
	struct profile *p = NULL;
	struct error *err = try_read(f, file, &p);

	expect_refusal(err, wanted);
	strbuf_deinit(file);
}

/* A function's exclusive figures; 0 if it is not there. */
static int64_t exclusive(const struct profile *p, const char *name, uint64_t *ticks)
{
	int64_t sum = 0;
	uint64_t samples = 0;

	for (uint32_t i = 1; i < p->stack_count; i++) {
		function_id f = p->frames[p->stack_frame[i].i].function;
		if (!str_equal(profile_string(p, p->functions[f.i].name), str_from(name)))
			continue;
		sum += profile_weight(p, 0, i);
		samples += profile_samples(p, i);
	}
	if (ticks)
		*ticks = samples;
	return sum;
}

/* ---- symbols ---- */

static void one_name_an_address(void **state)
{
	static const struct {
		uint64_t low;
		const char *name;
	} wanted[] = {
		{GMON_MAIN, "main"},
		{GMON_F, "f"},
		{GMON_G, "g"},
		{GMON_G_PART, "g.part.0"},
		{GMON_MANGLED, "_Z1hi"},
		{GMON_LABEL, "label"},
		{GMON_LAST, "last"},
	};
	struct fixture *f = *state;
	struct objfile *file;
	struct function_symbols *s;
	size_t index;

	assert_null(objfile_open_any_memory(f->elf.data, f->elf.size, "program", &file));
	assert_null(function_symbols_create(file, NULL, &s));
	assert_int_equal(function_symbols_count(s), ARRAY_SIZE(wanted));
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		struct function_symbol symbol = function_symbols_at(s, i);
		uint64_t high =
			i + 1 < ARRAY_SIZE(wanted) ? wanted[i + 1].low : GMON_TEXT + GMON_TEXT_SIZE;
		assert_true(str_equal(symbol.name, str_from(wanted[i].name)));
		assert_int_equal(symbol.low, wanted[i].low);
		assert_int_equal(symbol.high, high);
		assert_true(function_symbols_find(s, high - 1, &index));
		assert_int_equal(index, i);
	}
	assert_false(function_symbols_find(s, GMON_MAIN - 1, &index));
	assert_false(function_symbols_find(s, GMON_TEXT + GMON_TEXT_SIZE, &index));
	function_symbols_destroy(s);
	objfile_close(file);
}

/* ---- ticks ---- */

static void ticks_are_of_functions(void **state)
{
	struct strbuf file = file_begin();
	uint16_t bins[GMON_TEXT_SIZE / 4] = {0};
	uint64_t ticks;

	bins[(GMON_MAIN - GMON_TEXT) / 4] = 16;
	bins[(GMON_F - GMON_TEXT) / 4] = 60000;
	bins[(GMON_MANGLED - GMON_TEXT) / 4 + 3] = 2;
	bins[0] = 3; /* before any function */
	add_histogram(&file, GMON_TEXT, GMON_TEXT + GMON_TEXT_SIZE, 100, "seconds", bins,
		ARRAY_SIZE(bins));
	struct profile *p = read_file(*state, &file);
	assert_false(p->has_stacks);
	assert_int_equal(exclusive(p, "main", &ticks), 160000000);
	assert_int_equal(ticks, 16);
	assert_int_equal(exclusive(p, "f", NULL), 600000000000);
	assert_int_equal(exclusive(p, "h(int)", NULL), 20000000);
	assert_int_equal(exclusive(p, "[unknown]", &ticks), 30000000);
	assert_int_equal(ticks, 3);
	assert_int_equal(p->total[0], 600210000000);
	assert_int_equal(p->stats.counted, 60021);
	assert_int_equal(p->stats.foreign, 3);
	assert_int_equal(p->stats.interval_ns, 10000000);
	assert_true(has_note(p, "3 of 60021 ticks are outside"));
	profile_destroy(p);
}

/* Bin 0x1030 … 0x1033 is half f's and half g's, by units of two bytes. */
static void a_bin_of_two_functions_is_split(void **state)
{
	struct strbuf file = file_begin();
	uint16_t bins[GMON_TEXT_SIZE / 4] = {0};
	uint64_t ticks_f, ticks_g;

	bins[(0x1030 - GMON_TEXT) / 4] = 5;
	add_histogram(&file, GMON_TEXT, GMON_TEXT + GMON_TEXT_SIZE, 100, "seconds", bins,
		ARRAY_SIZE(bins));
	struct profile *p = read_file(*state, &file);
	assert_int_equal(exclusive(p, "f", &ticks_f), 25000000);
	assert_int_equal(exclusive(p, "g", &ticks_g), 25000000);
	assert_int_equal(ticks_f + ticks_g, 5);
	profile_destroy(p);
}

/* Whole ticks go to where most of them are, whatever share is cut off. */
static void whole_ticks_are_near_their_share(void **state)
{
	struct strbuf file = file_begin();
	uint16_t bins[GMON_TEXT_SIZE / 4] = {0};
	uint64_t ticks_f, ticks_g;

	bins[(0x1030 - GMON_TEXT) / 4] = 1; /* f 0.5, g 0.5 */
	bins[(0x1034 - GMON_TEXT) / 4] = 7; /* g 7 */
	add_histogram(&file, GMON_TEXT, GMON_TEXT + GMON_TEXT_SIZE, 100, "seconds", bins,
		ARRAY_SIZE(bins));
	struct profile *p = read_file(*state, &file);
	(void)exclusive(p, "f", &ticks_f);
	(void)exclusive(p, "g", &ticks_g);
	assert_int_equal(ticks_f + ticks_g, 8);
	assert_true(ticks_g == 7 || ticks_g == 8);
	profile_destroy(p);
}

static void random_bins_add_up(void **state)
{
	for (uint64_t seed = 0; seed < 300; seed++) {
		struct random r = random_from(seed);
		struct strbuf file = file_begin();
		uint64_t ticks = 0, time_ns = 0;
		for (uint32_t records = 1 + random_below(&r, 3); records > 0; records--) {
			uint16_t bins[200];
			uint32_t count = 1 + random_below(&r, ARRAY_SIZE(bins));
			uint32_t rate = 1 + random_below(&r, 2000);
			uint64_t low = GMON_TEXT - 8 + random_below(&r, 40), sum = 0;
			for (uint32_t i = 0; i < count; i++)
				sum += bins[i] =
					(uint16_t)(random_below(&r, 4) ? 0 : random_below(&r, 100));
			add_histogram(&file, low, low + 33 + random_below(&r, 700), rate, "seconds",
				bins, count);
			ticks += sum;
			time_ns += sum * 1000000000 / rate;
		}
		struct profile *p = read_file(*state, &file);
		assert_int_equal(p->total[0], time_ns);
		assert_int_equal(p->stats.counted, ticks);
		profile_destroy(p);
	}
}

static void ticks_of_other_things_are_counts(void **state)
{
	struct strbuf file = file_begin();
	const uint16_t bins[] = {4, 0, 9};

	add_histogram(&file, GMON_F, GMON_F + 12, 7, "misses", bins, 3);
	struct profile *p = read_file(*state, &file);
	assert_string_equal(profile_string(p, p->metrics[0].name).data, "samples");
	assert_int_equal(exclusive(p, "f", NULL), 13);
	profile_destroy(p);
}

/* ---- calls ---- */

static void calls_are_of_functions(void **state)
{
	struct strbuf file = file_begin();

	add_arc(&file, GMON_MAIN + 5, GMON_F, 3);
	add_arc(&file, GMON_MAIN + 9, GMON_F + 1, 4); /* another place of the same pair */
	add_arc(&file, GMON_F + 2, GMON_F, 0xffffffff);
	add_arc(&file, 0x10, GMON_MAIN, 1); /* from outside */
	add_arc(&file, GMON_F, 0x2000, 1);  /* to outside */
	struct profile *p = read_file(*state, &file);
	assert_int_equal(p->arc_count, 3);
	assert_int_equal(p->arcs[0].calls, 7);
	assert_int_equal(p->arcs[1].calls, 0xffffffff);
	assert_int_equal(p->arcs[1].caller.i, p->arcs[1].callee.i);
	assert_int_equal(p->arcs[2].caller.i, NO_ID);
	assert_int_equal(p->total[0], 0);
	assert_true(has_note(p, "outside of all functions, left out"));
	profile_destroy(p);
}

static void blocks_are_skipped(void **state)
{
	struct strbuf file = file_begin();

	strbuf_add_char(&file, 2);
	add_number(&file, 2, 4);
	add_number(&file, 0, 32);
	add_arc(&file, GMON_MAIN, GMON_F, 1);
	struct profile *p = read_file(*state, &file);
	assert_int_equal(p->arc_count, 1);
	assert_true(has_note(p, "2 basic blocks"));
	profile_destroy(p);
}

/* ---- bad files ---- */

static void bad_files_are_errors(void **state)
{
	const uint16_t bin = 1;
	struct strbuf file = file_begin();

	expect_error(*state, &file, "no ticks and no calls");
	file = file_begin();
	file.data[4] = 2;
	expect_error(*state, &file, "of version 2");
	file = file_begin();
	file.data[4] = 0;
	file.data[7] = 1;
	expect_error(*state, &file, "other byte order");
	file = file_begin();
	strbuf_add_char(&file, 3);
	expect_error(*state, &file, "at offset 0x14: a record of unknown kind; is it of another");
	file = file_begin();
	add_histogram(&file, GMON_F, GMON_F + 4, 0, "seconds", &bin, 1);
	expect_error(*state, &file, "impossible number of ticks a second");
	file = file_begin();
	add_histogram(&file, GMON_F, GMON_F, 100, "seconds", &bin, 1);
	expect_error(*state, &file, "without addresses");
	file = file_begin();
	add_histogram(&file, 0x555555555000, 0x555555556000, 100, "seconds", &bin, 1);
	expect_error(*state, &file, "has no functions; is it the program that wrote");
	file = file_begin();
	add_histogram(&file, GMON_F, GMON_F + 4, 100, "seconds", &bin, 1);
	add_histogram(&file, GMON_F, GMON_F + 4, 100, "misses", &bin, 1);
	expect_error(*state, &file, "counts seconds and misses");
}

TEST(a_program_is_needed)
{
	struct fixture none = {.program = NULL}, bad = {.program = (char[]){"/dev/null"}};
	struct strbuf file = file_begin();

	expect_error(&none, &file, "add --exe PROGRAM");
	file = file_begin();
	expect_error(&bad, &file, "--exe: /dev/null: not a regular file");
}

/* Every prefix is an error or a shorter profile that says so. */
static void cut_files_keep_their_beginning(void **state)
{
	struct strbuf file = file_begin();
	const uint16_t bins[] = {1, 2, 3};

	add_histogram(&file, GMON_F, GMON_F + 12, 100, "seconds", bins, 3);
	size_t whole_histogram = file.size;
	add_arc(&file, GMON_MAIN, GMON_F, 7);
	for (size_t size = 0; size < file.size; size++) {
		struct strbuf cut = {.data = file.data, .size = size};
		struct profile *p = NULL;
		struct error *err = try_read(*state, &cut, &p);
		assert_int_equal(err == NULL, size >= whole_histogram);
		if (err == NULL) {
			assert_int_equal(p->stats.counted, 6);
			assert_int_equal(has_note(p, "ends early"), size > whole_histogram);
		}
		error_destroy(err);
		profile_destroy(p);
	}
	strbuf_deinit(&file);
}

/* Bins as wide as all functions, many times over. */
static void hostile_histograms_end(void **state)
{
	struct strbuf file = file_begin();
	const uint16_t bin = 0xffff;

	for (int i = 0; i < GMON_HISTOGRAMS_MAX + 5; i++)
		add_histogram(&file, 0, UINT64_MAX, 1000000000, "seconds", &bin, 1);
	struct profile *p = read_file(*state, &file);
	assert_int_equal(p->stats.counted, (uint64_t)GMON_HISTOGRAMS_MAX * 0xffff);
	assert_true(has_note(p, "beyond the first 1024"));
	profile_destroy(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_name_an_address),
		cmocka_unit_test(ticks_are_of_functions),
		cmocka_unit_test(a_bin_of_two_functions_is_split),
		cmocka_unit_test(whole_ticks_are_near_their_share),
		cmocka_unit_test(random_bins_add_up),
		cmocka_unit_test(ticks_of_other_things_are_counts),
		cmocka_unit_test(calls_are_of_functions),
		cmocka_unit_test(blocks_are_skipped),
		cmocka_unit_test(bad_files_are_errors),
		cmocka_unit_test(a_program_is_needed),
		cmocka_unit_test(cut_files_keep_their_beginning),
		cmocka_unit_test(hostile_histograms_end),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
