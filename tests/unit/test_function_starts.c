/*
 * Where functions begin, out of .eh_frame_hdr and .eh_frame: tables that are good, absent, bad.
 */
#include <dwarf.h>
#include <elf.h>
#include <string.h>

#include "../cfi_bytes.h"
#include "../elf_image.h"
#include "../unit.h"
#include "obj/function_starts.h"
#include "obj/objfile.h"

#define FRAME_ADDR  0x100000
#define HEADER_ADDR 0x90000
#define HEADER_SIZE 12 /* before the table */

/* Three functions, a gap between the first two; in the file they are out of order. */
static const struct function_extent functions[] = {
	{0x1000, 0x1010, false}, {0x1020, 0x1040, false}, {0x1040, 0x1100, false}};

struct fixture {
	struct cfi_bytes frame, header;
	uint64_t entries[ARRAY_SIZE(functions)]; /* where each one's entry is */
	struct strbuf file;
	struct objfile *object;
	struct function_starts *starts;
};

static void add_entry(struct fixture *f, size_t i)
{
	f->entries[i] = FRAME_ADDR + f->frame.out.count;
	cfi_bytes_begin_fde(&f->frame, functions[i].low, functions[i].high - functions[i].low);
	cfi_bytes_end(&f->frame);
}

static void add_row(struct fixture *f, uint64_t start, uint64_t entry)
{
	cfi_bytes_put(&f->header, start - HEADER_ADDR, 4);
	cfi_bytes_put(&f->header, entry - HEADER_ADDR, 4);
}

/* A header that says how many rows there are, without them. */
static void add_header(struct fixture *f, uint32_t count)
{
	cfi_bytes_put(&f->header, 1, 1);
	cfi_bytes_put(&f->header, DW_EH_PE_pcrel | DW_EH_PE_sdata4, 1);
	cfi_bytes_put(&f->header, DW_EH_PE_udata4, 1);
	cfi_bytes_put(&f->header, DW_EH_PE_datarel | DW_EH_PE_sdata4, 1);
	cfi_bytes_put(&f->header, FRAME_ADDR - HEADER_ADDR - 4, 4);
	cfi_bytes_put(&f->header, count, 4);
}

static void fixture_begin(struct fixture *f)
{
	*f = (struct fixture){.frame.eh = true};
	cfi_bytes_cie(&f->frame, false);
	add_entry(f, 1);
	add_entry(f, 0);
	add_entry(f, 2);
}

static void fixture_begin_sorted(struct fixture *f)
{
	fixture_begin(f);
	add_header(f, ARRAY_SIZE(functions));
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		add_row(f, functions[i].low, f->entries[i]);
}

static void add_section(
	struct elf_image *image, const char *name, uint64_t obj_addr, const struct cfi_bytes *bytes)
{
	if (bytes->out.count)
		elf_image_add(
			image, (struct elf_image_section){.name = name,
				       .type = SHT_PROGBITS,
				       .flags = SHF_ALLOC,
				       .obj_addr = obj_addr,
				       .bytes = {(const char *)bytes->out.data, bytes->out.count}});
}

static void fixture_open(struct fixture *f)
{
	struct elf_image image = {0};

	add_section(&image, ".eh_frame", FRAME_ADDR, &f->frame);
	add_section(&image, ".eh_frame_hdr", HEADER_ADDR, &f->header);
	elf_image_write(&image, &f->file);
	elf_image_deinit(&image);
	assert_null(objfile_open_memory(f->file.data, f->file.size, "test", &f->object));
	f->starts = function_starts_create(f->object);
}

static void fixture_close(struct fixture *f)
{
	function_starts_destroy(f->starts);
	objfile_close(f->object);
	strbuf_deinit(&f->file);
	vec_deinit(&f->frame.out);
	vec_deinit(&f->header.out);
}

static bool is_held(const struct fixture *f, uint64_t obj_addr)
{
	struct function_extent extent;

	return function_starts_find(f->starts, obj_addr, &extent);
}

/* Function i is found by its first and its last byte. */
static void check_function(const struct fixture *f, size_t i)
{
	const uint64_t addrs[] = {functions[i].low, functions[i].high - 1};
	struct function_extent extent;

	for (size_t k = 0; k < ARRAY_SIZE(addrs); k++) {
		assert_true(function_starts_find(f->starts, addrs[k], &extent));
		assert_int_equal(extent.low, functions[i].low);
		assert_int_equal(extent.high, functions[i].high);
	}
}

static void check_all(struct fixture *f)
{
	fixture_open(f);
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		check_function(f, i);
	assert_false(is_held(f, 0));
	assert_false(is_held(f, 0xfff));
	assert_false(is_held(f, 0x1010));
	assert_false(is_held(f, 0x101f));
	assert_false(is_held(f, 0x1100));
	assert_false(is_held(f, UINT64_MAX));
	assert_int_equal(function_starts_after(f->starts, 0), 0x1000);
	assert_int_equal(function_starts_after(f->starts, 0x1000), 0x1020);
	assert_int_equal(function_starts_after(f->starts, 0x103f), 0x1040);
	assert_int_equal(function_starts_after(f->starts, 0x1040), UINT64_MAX);
	fixture_close(f);
}

TEST(a_sorted_table_is_searched)
{
	struct fixture f;

	fixture_begin_sorted(&f);
	check_all(&f);
}

TEST(without_a_header_entries_are_walked)
{
	struct fixture f;

	fixture_begin(&f);
	check_all(&f);
}

TEST(an_unsorted_table_is_not_used)
{
	struct fixture f;

	fixture_begin(&f);
	add_header(&f, ARRAY_SIZE(functions));
	for (size_t i = ARRAY_SIZE(functions); i-- > 0;)
		add_row(&f, functions[i].low, f.entries[i]);
	check_all(&f);
}

TEST(a_truncated_table_is_not_used)
{
	struct fixture f;

	for (size_t cut = 1; cut < HEADER_SIZE + ARRAY_SIZE(functions) * 8; cut++) {
		fixture_begin_sorted(&f);
		f.header.out.count -= cut;
		check_all(&f);
	}
}

TEST(a_table_of_impossible_size_is_not_used)
{
	static const uint32_t counts[] = {0, 4, 0x1fffffff, 0x20000003, 0x80000000, UINT32_MAX};
	struct fixture f;

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		fixture_begin_sorted(&f);
		memcpy(f.header.out.data + 8, &counts[i], sizeof(counts[i]));
		check_all(&f);
	}
}

TEST(a_header_of_another_kind_is_not_used)
{
	/* Version, encodings of the section's address, the count, the table. */
	static const struct {
		size_t at;
		uint8_t byte;
	} changes[] = {{0, 2}, {1, DW_EH_PE_omit}, {1, DW_EH_PE_aligned}, {2, DW_EH_PE_omit},
		{2, DW_EH_PE_indirect | DW_EH_PE_udata4}, {3, DW_EH_PE_omit},
		{3, DW_EH_PE_datarel | DW_EH_PE_sdata2}, {3, DW_EH_PE_absptr | DW_EH_PE_udata4}};
	struct fixture f;

	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		fixture_begin_sorted(&f);
		f.header.out.data[changes[i].at] = changes[i].byte;
		check_all(&f);
	}
}

/* Rows that no entry confirms say nothing; the others go on saying what they do. */
TEST(rows_are_checked_against_entries)
{
	struct fixture f;

	fixture_begin(&f);
	add_header(&f, 6);
	add_row(&f, 0x0f00, f.entries[0]);	    /* another function's */
	add_row(&f, 0x1000, f.entries[0]);	    /* good */
	add_row(&f, 0x1020, FRAME_ADDR);	    /* the CIE */
	add_row(&f, 0x1040, FRAME_ADDR - 4);	    /* before the section */
	add_row(&f, 0x2000, f.entries[2] + 4);	    /* within an entry */
	add_row(&f, 0x3000, FRAME_ADDR + 0x100000); /* behind the section */
	fixture_open(&f);
	check_function(&f, 0);
	assert_false(is_held(&f, 0x0f04));
	for (uint64_t addr = 0x1010; addr < 0x4000; addr += 8)
		assert_false(is_held(&f, addr));
	fixture_close(&f);
}

TEST(dropped_functions_are_none)
{
	struct fixture f;

	for (int with_header = 0; with_header < 2; with_header++) {
		f = (struct fixture){.frame.eh = true};
		cfi_bytes_cie(&f.frame, false);
		uint64_t entry = FRAME_ADDR + f.frame.out.count;
		cfi_bytes_begin_fde(&f.frame, 0, 0x2000);
		cfi_bytes_end(&f.frame);
		if (with_header) {
			add_header(&f, 1);
			add_row(&f, 0, entry);
		}
		fixture_open(&f);
		assert_false(is_held(&f, 0x1000));
		fixture_close(&f);
	}
}

/* Every byte of the entries wrong in turn; sanitizers see what is read amiss. */
TEST(wrong_bytes_do_no_harm)
{
	struct fixture f;
	size_t size = 1;

	for (size_t i = 0; i < size; i++) {
		fixture_begin_sorted(&f);
		size = f.frame.out.count;
		f.frame.out.data[i] ^= 0xff;
		fixture_open(&f);
		for (uint64_t addr = 0xfff; addr < 0x1101; addr++)
			(void)is_held(&f, addr);
		fixture_close(&f);
	}
}

TEST(no_unwind_rules_no_functions)
{
	struct fixture f = {0};

	fixture_open(&f);
	assert_false(is_held(&f, 0x1000));
	assert_int_equal(function_starts_after(f.starts, 0), UINT64_MAX);
	fixture_close(&f);
	fixture_begin_sorted(&f); /* a header alone */
	f.frame.out.count = 0;
	fixture_open(&f);
	assert_false(is_held(&f, 0x1000));
	fixture_close(&f);
}

/* The CIE of every function is read again for each address: it must not be a long one. */
TEST(a_long_cie_costs_nothing)
{
	enum { SIZE = 1 << 22, QUESTIONS = 100000 };
	struct fixture f = {.frame.eh = true};

	cfi_bytes_put(&f.frame, SIZE, 4);
	cfi_bytes_put(&f.frame, 0, 4);
	cfi_bytes_put(&f.frame, 1, 1);
	while (f.frame.out.count < SIZE + 4)
		cfi_bytes_put(&f.frame, 'z', 1);
	f.entries[0] = FRAME_ADDR + f.frame.out.count;
	cfi_bytes_put(&f.frame, 20, 4);
	cfi_bytes_put(&f.frame, f.frame.out.count, 4);
	cfi_bytes_put(&f.frame, 0x1000, 8);
	cfi_bytes_put(&f.frame, 0x10, 8);
	add_header(&f, 1);
	add_row(&f, 0x1000, f.entries[0]);
	fixture_open(&f);
	for (size_t i = 0; i < QUESTIONS; i++)
		assert_false(is_held(&f, 0x1000 + i % 16));
	fixture_close(&f);
}

TEST(our_own_functions_are_found)
{
	struct objfile *object;
	struct function_extent extent;

	assert_null(objfile_open("/proc/self/exe", &object));
	struct function_starts *starts = function_starts_create(object);
	uint64_t entry = objfile_entry(object);
	assert_true(function_starts_find(starts, entry, &extent));
	assert_int_equal(extent.low, entry);
	/* As many as are in this file, at least. */
	size_t count = 0;
	for (uint64_t at = 0; (at = function_starts_after(starts, at)) != UINT64_MAX;)
		count += function_starts_find(starts, at, &extent) && extent.low == at;
	assert_true(count > 20);
	function_starts_destroy(starts);
	objfile_close(object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sorted_table_is_searched),
		cmocka_unit_test(without_a_header_entries_are_walked),
		cmocka_unit_test(an_unsorted_table_is_not_used),
		cmocka_unit_test(a_truncated_table_is_not_used),
		cmocka_unit_test(a_table_of_impossible_size_is_not_used),
		cmocka_unit_test(a_header_of_another_kind_is_not_used),
		cmocka_unit_test(rows_are_checked_against_entries),
		cmocka_unit_test(dropped_functions_are_none),
		cmocka_unit_test(wrong_bytes_do_no_harm),
		cmocka_unit_test(no_unwind_rules_no_functions),
		cmocka_unit_test(a_long_cie_costs_nothing),
		cmocka_unit_test(our_own_functions_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
