/*
 * Rules found one by one, in any order, against all of them compiled at once; and indices that lie.
 */

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "../cfi_bytes.h"
#include "../property.h"
#include "../slow/slow_cfi.h"
#include "../unit.h"
#include "obj/bare_code.h"
#include "obj/cfi_pages.h"
#include "obj/lazy_bytes.h"
#include "obj/objfile.h"

enum { HEADER_ADDR = 0xf0000, FRAME_ADDR = 0x100000, CODE_ADDR = 0x200000 };

static uint64_t random_state;

static uint64_t random_below(uint64_t end)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (random_state >> 20) % end;
}

/* ---- random sections ---- */

enum { FUNCTIONS_MAX = 60 };

struct fixture {
	struct cfi_bytes frame, header;
	struct {
		uint64_t low, entry;
	} functions[FUNCTIONS_MAX];
	size_t count;
	uint64_t high; /* no function is behind it */
	struct cfi_source source;
};

static void put_program(struct cfi_bytes *b)
{
	for (uint64_t left = random_below(6); left > 0; left--) {
		cfi_bytes_put(b, DW_CFA_def_cfa_offset, 1);
		cfi_bytes_uleb(b, 8 + 8 * random_below(40));
		if (random_below(4) == 0)
			cfi_bytes_program(b, (const uint8_t[]){DW_CFA_offset | 6, 2}, 2);
		if (random_below(8) == 0)
			cfi_bytes_program(b,
				(const uint8_t[]){DW_CFA_def_cfa_expression, 2, 0x76,
					(uint8_t)random_below(64)},
				4);
		cfi_bytes_put(b, DW_CFA_advance_loc | (1 + random_below(20)), 1);
		if (random_below(8) == 0)
			cfi_bytes_program(b, (const uint8_t[]){DW_CFA_def_cfa, 7, 8}, 3);
	}
}

/* Functions that touch, are apart, have no size, or, if they may, overlap; some are large. */
static void add_functions(struct fixture *f, bool may_overlap)
{
	uint64_t low = CODE_ADDR;

	cfi_bytes_cie(&f->frame, false);
	for (f->count = 0; f->count < 1 + random_below(FUNCTIONS_MAX - 1); f->count++) {
		uint64_t size = random_below(20) ? random_below(200) : random_below(300000);

		if (random_below(10) == 0)
			cfi_bytes_cie(&f->frame, random_below(2));
		f->functions[f->count].low = low;
		f->functions[f->count].entry = FRAME_ADDR + f->frame.out.count;
		cfi_bytes_begin_fde(&f->frame, low, size);
		put_program(&f->frame);
		cfi_bytes_end(&f->frame);
		low += random_below(3) ? size + 1
		       : may_overlap   ? 1 + random_below(size + 300)
				       : size + random_below(300);
	}
	f->high = low + 300000;
}

static void begin_header(struct fixture *f, uint64_t count)
{
	cfi_bytes_put(&f->header, 1, 1);
	cfi_bytes_put(&f->header, DW_EH_PE_pcrel | DW_EH_PE_sdata4, 1);
	cfi_bytes_put(&f->header, DW_EH_PE_udata4, 1);
	cfi_bytes_put(&f->header, DW_EH_PE_datarel | DW_EH_PE_sdata4, 1);
	cfi_bytes_put(&f->header, FRAME_ADDR - HEADER_ADDR - 4, 4);
	cfi_bytes_put(&f->header, count, 4);
}

static void add_header(struct fixture *f)
{
	begin_header(f, f->count);
	for (size_t i = 0; i < f->count; i++) {
		cfi_bytes_put(&f->header, f->functions[i].low - HEADER_ADDR, 4);
		cfi_bytes_put(&f->header, f->functions[i].entry - HEADER_ADDR, 4);
	}
}

static void fixture_begin(struct fixture *f, bool may_overlap)
{
	*f = (struct fixture){.frame.eh = true};
	random_state = property_seed;
	add_functions(f, may_overlap);
	add_header(f);
}

/* The source of what is there now. */
static void fixture_end(struct fixture *f)
{
	f->source = (struct cfi_source){.sections = {cfi_bytes_section(&f->frame)},
		.section_count = 1,
		.header = {.bytes = f->header.out.data,
			.size = f->header.out.count,
			.obj_addr = HEADER_ADDR},
		.object = {.name = "test"}};
}

static void fixture_deinit(struct fixture *f)
{
	vec_deinit(&f->frame.out);
	vec_deinit(&f->header.out);
}

static void check_all(const struct fixture *f, struct cfi_table *table)
{
	enum { ADDRESSES = 300 };
	struct slow_cfi slow;

	slow_cfi_init(&slow, &f->source);
	for (int i = 0; i < ADDRESSES; i++) {
		uint64_t addr = CODE_ADDR - 100 + random_below(f->high - CODE_ADDR + 200);

		if (i % 2)
			addr = f->functions[random_below(f->count)].low + random_below(40) - 8;
		if (!slow_cfi_agrees(&slow, table, addr))
			fail_msg("SEED=%" PRIu64 ": other rules at %" PRIx64, property_seed, addr);
	}
	slow_cfi_deinit(&slow);
}

static void check_fixture(const struct fixture *f)
{
	struct cfi_table *table = cfi_table_open(&f->source);

	check_all(f, table);
	cfi_table_destroy(table);
}

TEST(test_random_sections)
{
	for (struct property_seeds p = property_seeds(400, 60); property_next(&p);) {
		struct fixture f;

		fixture_begin(&f, true);
		fixture_end(&f);
		check_fixture(&f);
		f.source.header.size = 0;
		check_fixture(&f);
		fixture_deinit(&f);
	}
}

/* Whatever is wrong with the index, the section's own entries count. */
TEST(test_indices_that_lie)
{
	for (struct property_seeds p = property_seeds(1000, 100); property_next(&p);) {
		struct fixture f;

		/* Where entries overlap, what the index leaves out does not show. */
		fixture_begin(&f, false);
		for (uint64_t left = 1 + random_below(3); left > 0; left--)
			f.header.out.data[12 + random_below(f.header.out.count - 12)] ^=
				(uint8_t)(1 + random_below(255));
		fixture_end(&f);
		check_fixture(&f);
		fixture_deinit(&f);
	}
}

static void check_distrusted(size_t offset, uint8_t value)
{
	struct fixture f;

	property_seed = 1;
	fixture_begin(&f, true);
	f.header.out.data[offset] = value;
	fixture_end(&f);
	check_fixture(&f);
	fixture_deinit(&f);
}

TEST(test_headers_of_no_use)
{
	check_distrusted(0, 2);		      /* another version */
	check_distrusted(1, DW_EH_PE_omit);   /* no address of the section */
	check_distrusted(2, DW_EH_PE_omit);   /* no count */
	check_distrusted(3, DW_EH_PE_udata8); /* another encoding */
	check_distrusted(4, 1);		      /* another section's */
	check_distrusted(11, 0x7f);	      /* more rows than there are */
}

/* A table whose rows all name the entry of another function, and one in the wrong order. */
TEST(test_rows_that_lie)
{
	for (int is_order = 0; is_order < 2; is_order++) {
		struct fixture f;

		property_seed = 2;
		fixture_begin(&f, true);
		assert_true(f.count > 2);
		f.header.out.count = 0;
		begin_header(&f, f.count);
		for (size_t i = 0; i < f.count; i++) {
			size_t other = f.count - 1 - i;
			size_t low = is_order ? other : i;
			cfi_bytes_put(&f.header, f.functions[low].low - HEADER_ADDR, 4);
			cfi_bytes_put(&f.header, f.functions[other].entry - HEADER_ADDR, 4);
		}
		fixture_end(&f);
		check_fixture(&f);
		fixture_deinit(&f);
	}
}

/* ---- memory ---- */

/* Rules of 64 MB of code, at each byte another one than before: what is kept has a bound. */
TEST(test_memory_has_a_bound)
{
	enum { FUNCTIONS = 4000, SIZE = 16384 };
	struct cfi_bytes b = {.eh = true};
	size_t most = 0;

	cfi_bytes_cie(&b, false);
	for (uint64_t i = 0; i < FUNCTIONS; i++) {
		cfi_bytes_begin_fde(&b, CODE_ADDR + i * SIZE, SIZE);
		for (int at = 0; at < 2000; at++)
			cfi_bytes_program(&b,
				(const uint8_t[]){DW_CFA_def_cfa_offset,
					(uint8_t)(8 + 8 * (at & 1)), DW_CFA_advance_loc | 1},
				3);
		cfi_bytes_end(&b);
	}
	struct cfi_source source = {.sections = {cfi_bytes_section(&b)},
		.section_count = 1,
		.object = {.name = "test"}};
	struct cfi_table *table = cfi_table_open(&source);
	const struct cfi_rule *first = cfi_table_find(table, CODE_ADDR + 1);
	for (uint64_t i = 0; i < FUNCTIONS; i++) {
		const struct cfi_rule *rule = cfi_table_find(table, CODE_ADDR + i * SIZE + 1);
		assert_ptr_equal(rule, first);
		size_t size = cfi_table_size_bytes(table);
		most = size > most ? size : most;
	}
	assert_true(most > CFI_CACHE_MAX / 2);
	assert_true(most < CFI_CACHE_MAX + (4 << 20));
	cfi_table_destroy(table);
	vec_deinit(&b.out);
}

static bool read_some(void *context, uint64_t file_off, uint8_t *bytes, size_t size)
{
	uint64_t *cut = context;

	if (file_off + size > *cut)
		return false;
	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)((file_off + i) / 4096);
	return true;
}

TEST(test_lazy_bytes)
{
	enum { PAGES = 6000, SIZE = PAGES * 4096 - 100 };
	uint64_t cut = (uint64_t)5990 * 4096;
	struct lazy_bytes *lazy = lazy_bytes_create(read_some, &cut, 8192, SIZE);
	const uint8_t *bytes = lazy_bytes_data(lazy);

	assert_int_equal(bytes[4096 * 9], 0);
	assert_true(lazy_bytes_need(lazy, 4096 * 9 + 4000, 200));
	assert_int_equal(bytes[4096 * 9], 11);
	assert_int_equal(bytes[4096 * 10 + 4095], 12);
	assert_int_equal(bytes[4096 * 11], 0);
	/* What the file does not have, and what is behind the end. */
	assert_false(lazy_bytes_need(lazy, SIZE - 1, 1));
	assert_true(lazy_bytes_need(lazy, SIZE, 1));
	assert_true(lazy_bytes_need(lazy, 0, (uint64_t)5900 * 4096));
	assert_true(lazy_bytes_size_bytes(lazy) > LAZY_BYTES_MAX);
	lazy_bytes_tidy(lazy);
	assert_true(lazy_bytes_size_bytes(lazy) < 4096);
	assert_int_equal(bytes[4096 * 9], 0);
	assert_true(lazy_bytes_need(lazy, 4096 * 9, 1));
	assert_int_equal(bytes[4096 * 9], 11);
	lazy_bytes_destroy(lazy);
}

/* ---- real objects ---- */

/* What the slow way reads, whole; without the start-up code that is known by its look. */
static bool slow_source(struct objfile *file, struct cfi_code *code, struct cfi_source *source)
{
	*source = (struct cfi_source){.section_count = 0};
	source->section_count = objfile_cfi_sections(file, source->sections, &source->object);
	objfile_code(file, code);
	source->object.code = code;
	return source->section_count == 1;
}

static bool is_bare(const struct cfi_bare *bare, size_t count, uint64_t addr)
{
	for (size_t i = 0; i < count; i++)
		if (addr >= bare[i].low_addr && addr < bare[i].high_addr + 4096)
			return true;
	return false;
}

static void compare_object(struct objfile *file, const struct cfi_source *source)
{
	enum { ADDRESSES = 30000 };
	const struct cfi_code *code = source->object.code;
	struct cfi_table *table = objfile_open_cfi(file);
	struct cfi_bare bare[BARE_CODE_MAX];
	size_t bare_count = bare_code_find(file, NULL, 0, bare);
	struct slow_cfi slow;

	random_state = 1;
	slow_cfi_init(&slow, source);
	for (size_t r = 0; r < code->count; r++) {
		uint64_t low = code->ranges[r].low, size = code->ranges[r].high - low;
		for (uint64_t i = 0; i < ADDRESSES; i++) {
			uint64_t addr = low + (size < ADDRESSES ? i % size : random_below(size));
			if (!is_bare(bare, bare_count, addr) &&
				!slow_cfi_agrees(&slow, table, addr))
				fail_msg("%s: other rules at %" PRIx64, objfile_name(file), addr);
		}
	}
	assert_int_equal(cfi_table_bad_entries(table), 0);
	slow_cfi_deinit(&slow);
	cfi_table_destroy(table);
}

static bool compare_path(const char *path)
{
	struct cfi_source source;
	struct objfile *file;
	struct cfi_code code;
	struct error *err = objfile_open(path, &file);

	error_destroy(err);
	if (err)
		return false;
	bool is_comparable = slow_source(file, &code, &source);
	if (is_comparable)
		compare_object(file, &source);
	objfile_close(file);
	return is_comparable;
}

/* Known functions of start-up code are there besides the entry's, which ends where they begin. */
TEST(test_known_starts)
{
	struct cfi_bare bare[BARE_CODE_MAX];
	struct objfile *file;
	size_t found = 0;

	assert_null(objfile_open("/proc/self/exe", &file));
	uint64_t entry = objfile_entry(file);
	const struct bare_code_start starts[] = {
		{entry + 64, entry + 96}, {entry + 16, entry + 400}};
	size_t count = bare_code_find(file, starts, ARRAY_SIZE(starts), bare);
	for (size_t i = 0; i < count; i++) {
		assert_true(bare[i].low_addr < bare[i].high_addr);
		assert_true(i == 0 || bare[i - 1].high_addr <= bare[i].low_addr);
		found += bare[i].is_outermost &&
			 (bare[i].low_addr == entry || bare[i].low_addr == entry + 16 ||
				 bare[i].low_addr == entry + 64);
	}
	assert_int_equal(found, 3);
	objfile_close(file);
}

TEST(test_real_objects)
{
	static const char *const paths[] = {"/proc/self/exe", "/lib/x86_64-linux-gnu/libc.so.6",
		"/lib64/ld-linux-x86-64.so.2", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
		"/usr/lib/x86_64-linux-gnu/libcrypto.so.3", "/usr/lib/llvm-14/lib/libLLVM-14.so.1"};
	size_t compared = 0;

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		compared += compare_path(paths[i]);
	if (compared == 0)
		skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_sections),
		cmocka_unit_test(test_indices_that_lie),
		cmocka_unit_test(test_headers_of_no_use),
		cmocka_unit_test(test_rows_that_lie),
		cmocka_unit_test(test_memory_has_a_bound),
		cmocka_unit_test(test_lazy_bytes),
		cmocka_unit_test(test_known_starts),
		cmocka_unit_test(test_real_objects),
	};

	return cmocka_run_group_tests_name("cfi_find", tests, NULL, NULL);
}
