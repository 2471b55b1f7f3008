/*
 * ELF files: our own executable, images made by hand, hostile ones.
 */

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "../cfi_bytes.h"
#include "../elf_image.h"
#include "../fake_stack.h"
#include "../unit.h"
#include "obj/objfile.h"
#include "obj/vdso.h"

/* ---- images ---- */

struct image {
	struct elf_image elf;
	struct strbuf out;
	struct objfile *file;
};

static void image_open(struct image *image)
{
	elf_image_write(&image->elf, &image->out);
	assert_null(objfile_open_memory(image->out.data, image->out.size, "image", &image->file));
}

static void image_deinit(struct image *image)
{
	objfile_close(image->file);
	strbuf_deinit(&image->out);
	elf_image_deinit(&image->elf);
}

/* ---- files ---- */

/* Read-only data and code in one page of the file, as linkers put them to save space. */
TEST(test_shared_page)
{
	static const char bytes[0x100];
	struct image image = {0};
	uint64_t slide;

	elf_image_add(&image.elf, (struct elf_image_section){.name = ".rodata",
					  .type = SHT_PROGBITS,
					  .flags = SHF_ALLOC,
					  .obj_addr = 0x100,
					  .bytes = {bytes, sizeof(bytes)}});
	elf_image_add(&image.elf, (struct elf_image_section){.name = ".text",
					  .type = SHT_PROGBITS,
					  .flags = SHF_ALLOC | SHF_EXECINSTR,
					  .obj_addr = 0x1200,
					  .bytes = {bytes, sizeof(bytes)}});
	image_open(&image);
	struct objfile_segment text = objfile_segment(image.file, 1);
	assert_true(objfile_slide(image.file, 0x7f0000001000, 0, &slide));
	assert_int_equal(0x7f0000001000 + text.file_off - slide, text.obj_addr);
	assert_false(objfile_slide(image.file, 0x7f0000001000, 0x1000, &slide));
	image_deinit(&image);
}

/* Whether another data segment begins in the same page, as lld lays them out: they are one to see.
 */
static bool shares_page(const struct objfile *file, size_t number)
{
	struct objfile_segment s = objfile_segment(file, number);

	for (size_t i = 0; i < objfile_segment_count(file); i++)
		if (i != number && !s.executable &&
			objfile_segment(file, i).file_off / 4096 == s.file_off / 4096)
			return true;
	return false;
}

TEST(test_own_executable)
{
	struct objfile *file;
	struct objfile_section text;
	bool executable = false;

	assert_null(objfile_open("/proc/self/exe", &file));
	assert_string_equal(objfile_name(file), "/proc/self/exe");
	assert_int_equal(objfile_machine(file), EM_X86_64);
	assert_int_equal(objfile_build_id(file).size, 40);
	assert_true(objfile_entry(file) != 0);
	for (size_t i = 0; i < objfile_segment_count(file); i++) {
		struct objfile_segment s = objfile_segment(file, i);
		uint64_t slide;
		executable |= s.executable;
		if (s.file_size == 0 || shares_page(file, i))
			continue;
		/* As the loader maps it: from the start of the page. */
		uint64_t page_off = s.file_off & ~4095ull, va = 0x7f0000000000;
		assert_true(objfile_slide(file, va, page_off, &slide));
		assert_int_equal(va + (s.file_off - page_off) - slide, s.obj_addr);
	}
	assert_true(executable);
	assert_true(objfile_section(file, ".text", &text));
	assert_true(text.size > 1000 && text.bytes && (text.flags & SHF_EXECINSTR));
	assert_false(objfile_section(file, ".nonesuch", &text));
	objfile_close(file);
}

static void expect_error(const char *path, enum error_kind kind)
{
	struct objfile *file = NULL;
	struct error *err = objfile_open(path, &file);

	assert_non_null(err);
	assert_int_equal(err->kind, kind);
	assert_non_null(strstr(err->message, path));
	assert_null(file);
	error_destroy(err);
}

TEST(test_no_elf_files)
{
	char folder[] = "/tmp/sonde-objfile-XXXXXX", path[64];

	assert_non_null(mkdtemp(folder));
	expect_error("/nonexistent/file", ERROR_SYSTEM);
	expect_error(folder, ERROR_INPUT);
	expect_error("/dev/zero", ERROR_INPUT);
	snprintf(path, sizeof(path), "%s/fifo", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	expect_error(path, ERROR_INPUT);
	unlink(path);
	snprintf(path, sizeof(path), "%s/text", folder);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	expect_error(path, ERROR_INPUT);
	fputs("\177ELF and no more", f);
	fclose(f);
	expect_error(path, ERROR_INPUT);
	unlink(path);
	rmdir(folder);
}

TEST(test_vdso)
{
	struct str bytes;
	struct objfile *file;

	if (!vdso_bytes(&bytes))
		skip();
	assert_null(objfile_open_memory(bytes.data, bytes.size, "[vdso]", &file));
	struct cfi_table *table = objfile_open_cfi(file);
	assert_non_null(table);
	for (size_t i = 0; i < objfile_segment_count(file); i++) {
		struct objfile_segment s = objfile_segment(file, i);
		for (uint64_t at = 0; s.executable && at < s.file_size; at++)
			(void)cfi_table_find(table, s.obj_addr + at);
	}
	assert_true(cfi_table_rule_count(table) > 3);
	assert_int_equal(cfi_table_bad_entries(table), 0);
	cfi_table_destroy(table);
	objfile_close(file);
}

/* ---- sections ---- */

TEST(test_other_machines)
{
	struct image image = {0};
	struct objfile *file;

	elf_image_write(&image.elf, &image.out);
	image.out.data[EI_DATA] = ELFDATA2MSB;
	struct error *err = objfile_open_memory(image.out.data, image.out.size, "x", &file);
	assert_non_null(err);
	assert_int_equal(err->kind, ERROR_UNSUPPORTED);
	error_destroy(err);
	image_deinit(&image);
}

/* Section contents of `packed` bytes behind a compression header; false if they are refused. */
static bool read_packed(const char *name, bool header, uint32_t type, uint64_t size,
	const void *packed, size_t packed_size, struct strbuf *contents)
{
	Elf64_Chdr h = {.ch_type = type, .ch_size = size, .ch_addralign = 1};
	struct image image = {0};
	struct strbuf bytes = {0};
	struct objfile_section section;

	if (header)
		strbuf_add(&bytes, (struct str){(const char *)&h, sizeof(h)});
	strbuf_add(&bytes, (struct str){packed, packed_size});
	elf_image_add(&image.elf, (struct elf_image_section){.name = name,
					  .type = SHT_PROGBITS,
					  .flags = header ? SHF_COMPRESSED : 0,
					  .bytes = strbuf_str(&bytes)});
	image_open(&image);
	bool found = objfile_section(image.file, ".debug_info", &section);
	if (found)
		strbuf_add(contents, (struct str){(const char *)section.bytes, section.size});
	/* The second time it comes from the cache. */
	assert_int_equal(objfile_section(image.file, ".debug_info", &section), found);
	strbuf_deinit(&bytes);
	image_deinit(&image);
	return found;
}

static const char plain[] = "a section that is compressed, compressed, compressed, compressed";

static void expect_contents(struct strbuf *contents)
{
	assert_int_equal(contents->size, sizeof(plain));
	assert_memory_equal(contents->data, plain, sizeof(plain));
	strbuf_deinit(contents);
	*contents = (struct strbuf){0};
}

TEST(test_compressed_sections)
{
	uint8_t deflated[256], zstd[256], gnu[256] = {'Z', 'L', 'I', 'B', 0, 0, 0, 0, 0, 0, 0};
	uLongf deflated_size = sizeof(deflated);
	struct strbuf contents = {0};

	compress(deflated, &deflated_size, (const Bytef *)plain, sizeof(plain));
	size_t zstd_size = ZSTD_compress(zstd, sizeof(zstd), plain, sizeof(plain), 1);
	gnu[11] = sizeof(plain);
	memcpy(gnu + 12, deflated, deflated_size);
	assert_true(read_packed(
		".debug_info", true, 1, sizeof(plain), deflated, deflated_size, &contents));
	expect_contents(&contents);
	assert_true(read_packed(".debug_info", true, 2, sizeof(plain), zstd, zstd_size, &contents));
	expect_contents(&contents);
	assert_true(read_packed(".zdebug_info", false, 0, 0, gnu, deflated_size + 12, &contents));
	expect_contents(&contents);
	/* Not what they say they are. */
	assert_false(read_packed(".debug_info", true, 3, 64, zstd, zstd_size, &contents));
	assert_false(read_packed(".debug_info", true, 1, 64, deflated, deflated_size, &contents));
	assert_false(read_packed(".debug_info", true, 1, 66, deflated, deflated_size, &contents));
	assert_false(read_packed(".debug_info", true, 1, 0, deflated, deflated_size, &contents));
	assert_false(read_packed(".debug_info", true, 2, 66, zstd, zstd_size, &contents));
	/* Sizes that would be allocated in vain. */
	assert_false(read_packed(
		".debug_info", true, 1, UINT64_MAX, deflated, deflated_size, &contents));
	assert_false(
		read_packed(".debug_info", true, 2, (uint64_t)1 << 32, zstd, zstd_size, &contents));
	assert_false(read_packed(".debug_info", true, 1, sizeof(plain), deflated, 0, &contents));
	assert_false(read_packed(".zdebug_info", false, 0, 0, gnu, 11, &contents));
}

TEST(test_build_ids)
{
	static const uint8_t notes[] = {/* another note, of an odd size, then the build-id */
		4, 0, 0, 0, 5, 0, 0, 0, 1, 0, 0, 0, 'a', 'b', 'c', 0, 1, 2, 3, 4, 5, 0, 0, 0, 4, 0,
		0, 0, 4, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0, 0xde, 0xad, 0xbe, 0xef};

	for (size_t size = 0; size <= sizeof(notes); size++) {
		struct image image = {0};
		elf_image_add(&image.elf, (struct elf_image_section){.name = ".note",
						  .type = SHT_NOTE,
						  .bytes = {(const char *)notes, size}});
		image_open(&image);
		struct str id = objfile_build_id(image.file);
		assert_true(str_equal(id, size == sizeof(notes) ? STR("deadbeef") : STR("")));
		image_deinit(&image);
	}
}

/* ---- unwind rules ---- */

TEST(test_bare_code)
{
	static const uint8_t init[] = {
		0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x83, 0xec, 8, 0x90, 0x48, 0x83, 0xc4, 8, 0xc3};
	struct image image = {0};

	elf_image_add(&image.elf, (struct elf_image_section){.name = ".init",
					  .type = SHT_PROGBITS,
					  .flags = SHF_ALLOC | SHF_EXECINSTR,
					  .obj_addr = 0x1000,
					  .bytes = {(const char *)init, sizeof(init)}});
	/* _fini without endbr, and with nothing in it. */
	elf_image_add(&image.elf, (struct elf_image_section){.name = ".fini",
					  .type = SHT_PROGBITS,
					  .flags = SHF_ALLOC | SHF_EXECINSTR,
					  .obj_addr = 0x2000,
					  .bytes = {(const char *)init + 4, 4}});
	elf_image_write(&image.elf, &image.out);
	/* The entry stands in the header. */
	const uint64_t entry = 0x3000;
	memcpy(image.out.data + offsetof(Elf64_Ehdr, e_entry), &entry, sizeof(entry));
	assert_null(objfile_open_memory(image.out.data, image.out.size, "image", &image.file));
	assert_int_equal(objfile_entry(image.file), entry);
	struct cfi_table *table = objfile_open_cfi(image.file);
	assert_int_equal(cfi_table_find(table, 0x1007)->cfa_offset, 8);
	assert_int_equal(cfi_table_find(table, 0x1008)->cfa_offset, 16);
	assert_int_equal(cfi_table_find(table, 0x100c)->cfa_offset, 16);
	assert_int_equal(cfi_table_find(table, 0x100d)->cfa_offset, 8);
	assert_int_equal(cfi_table_find(table, 0x100e)->kind, CFI_NONE);
	/* Not of the known form: read off the code. */
	assert_int_equal(cfi_table_find(table, 0x2000)->kind, CFI_CODE_SP);
	assert_int_equal(cfi_table_find(table, 0x3000)->kind, CFI_END);
	assert_int_equal(cfi_table_find(table, 0x3100)->kind, CFI_NONE);
	cfi_table_destroy(table);
	image_deinit(&image);
}

TEST(test_no_rules)
{
	struct image image = {0};

	image_open(&image);
	assert_null(objfile_open_cfi(image.file));
	image_deinit(&image);
}

/* An image in memory has no section headers: .eh_frame is found by its index. */
TEST(test_without_sections)
{
	struct objfile *file, *file_without;
	struct stat st;
	FILE *f = fopen("/proc/self/exe", "r");

	assert_non_null(f);
	assert_int_equal(fstat(fileno(f), &st), 0);
	uint8_t *bytes = malloc((size_t)st.st_size);
	assert_int_equal(fread(bytes, 1, (size_t)st.st_size, f), st.st_size);
	fclose(f);
	assert_null(objfile_open("/proc/self/exe", &file));
	struct cfi_table *whole = objfile_open_cfi(file);
	memset(bytes + offsetof(Elf64_Ehdr, e_shoff), 0, 8);
	memset(bytes + offsetof(Elf64_Ehdr, e_shnum), 0, 4);
	assert_null(objfile_open_memory(bytes, (size_t)st.st_size, "own", &file_without));
	struct cfi_table *bare = objfile_open_cfi(file_without);
	assert_non_null(whole);
	assert_non_null(bare);
	assert_int_equal(objfile_build_id(file).size, 40);
	struct objfile_segment text = {0};
	for (size_t i = 0; i < objfile_segment_count(file) && !text.executable; i++)
		text = objfile_segment(file, i);
	for (uint64_t addr = text.obj_addr + 4096; addr < text.obj_addr + text.file_size - 64;
		addr++)
		assert_int_equal(cfi_table_find(bare, addr)->cfa_offset,
			cfi_table_find(whole, addr)->cfa_offset);
	assert_true(cfi_table_rule_count(bare) > 10);
	cfi_table_destroy(whole);
	cfi_table_destroy(bare);
	objfile_close(file);
	objfile_close(file_without);
	free(bytes);
}

/* Cut anywhere: an error, or less of it. */
TEST(test_truncated)
{
	struct image image = {0};
	struct cfi_bytes rules = {.eh = true};

	fake_stack_rules(&rules);
	elf_image_add(
		&image.elf, (struct elf_image_section){.name = ".eh_frame",
				    .type = SHT_PROGBITS,
				    .flags = SHF_ALLOC,
				    .obj_addr = 0x100000,
				    .bytes = {(const char *)rules.out.data, rules.out.count}});
	elf_image_write(&image.elf, &image.out);
	for (size_t size = 0; size < image.out.size; size++) {
		/* A copy of just that size, for the sanitizer. */
		uint8_t *cut = malloc(size + 1);
		struct objfile *file;
		memcpy(cut, image.out.data, size);
		struct error *err = objfile_open_memory(cut, size, "cut", &file);
		if (err == NULL) {
			struct cfi_table *table = objfile_open_cfi(file);
			for (uint64_t at = 0; table && at < 0x10000; at += 16)
				(void)cfi_table_find(table, at);
			cfi_table_destroy(table);
			objfile_close(file);
		}
		error_destroy(err);
		free(cut);
	}
	strbuf_deinit(&image.out);
	elf_image_deinit(&image.elf);
	vec_deinit(&rules.out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_executable),
		cmocka_unit_test(test_shared_page),
		cmocka_unit_test(test_no_elf_files),
		cmocka_unit_test(test_vdso),
		cmocka_unit_test(test_other_machines),
		cmocka_unit_test(test_compressed_sections),
		cmocka_unit_test(test_build_ids),
		cmocka_unit_test(test_bare_code),
		cmocka_unit_test(test_no_rules),
		cmocka_unit_test(test_without_sections),
		cmocka_unit_test(test_truncated),
	};

	return cmocka_run_group_tests_name("objfile", tests, NULL, NULL);
}
