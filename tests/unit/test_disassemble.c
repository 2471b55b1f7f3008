/*
 * Instructions of small hand-made objects: their extent, the names of what they call, bytes that
 * are none, objects that are shorter than they say.
 */
#include <elf.h>
#include <stdlib.h>

#include "../elf_image.h"
#include "../unit.h"
#include "base/alloc.h"
#include "obj/disassemble.h"
#include "obj/objfile.h"
#include "obj/symtab.h"

#define TEXT 0x1000u

struct subject {
	struct strbuf bytes;
	struct objfile *file;
	struct symtab *names;
	struct arena *arena;
};

/* f at TEXT of that size, g behind it; the section holds `code`. */
static void subject_init(struct subject *s, struct str code, uint64_t size)
{
	static const char strings[] = "\0f\0g";
	const Elf64_Sym symbols[] = {{0},
		{.st_name = 1,
			.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			.st_shndx = 1,
			.st_value = TEXT,
			.st_size = size},
		{.st_name = 3,
			.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			.st_shndx = 1,
			.st_value = TEXT + size,
			.st_size = 16}};
	struct elf_image image = {0};

	*s = (struct subject){.arena = arena_create()};
	elf_image_add(&image, (struct elf_image_section){.name = ".text",
				      .type = SHT_PROGBITS,
				      .flags = SHF_ALLOC | SHF_EXECINSTR,
				      .obj_addr = TEXT,
				      .bytes = code});
	uint32_t strtab = elf_image_add(&image, (struct elf_image_section){.name = ".strtab",
							.type = SHT_STRTAB,
							.bytes = {strings, sizeof(strings)}});
	elf_image_add(&image, (struct elf_image_section){.name = ".symtab",
				      .type = SHT_SYMTAB,
				      .link = strtab,
				      .entry_size = sizeof(Elf64_Sym),
				      .bytes = {(const char *)symbols, sizeof(symbols)}});
	elf_image_write(&image, &s->bytes);
	elf_image_deinit(&image);
	struct error *err = objfile_open_memory(s->bytes.data, s->bytes.size, "test", &s->file);

	assert_null(err);
	s->names = symtab_create(s->file, NULL);
}

static void subject_deinit(struct subject *s)
{
	symtab_destroy(s->names);
	objfile_close(s->file);
	strbuf_deinit(&s->bytes);
	arena_destroy(s->arena);
}

/* The instructions of f as "address text", one a line; skips where there is no disassembler. */
static void expect(struct subject *s, enum disassemble_syntax syntax, const char *expected)
{
	const uint64_t addr = TEXT + 1;
	struct code_range range;
	const struct instruction *x;
	struct strbuf text = {0};
	size_t count;

	assert_int_equal(code_ranges_find(s->file, s->names, &addr, 1, &range), 1);
	struct error *err = disassemble(s->file, s->names, range, syntax, s->arena, &x, &count);

	if (err && strstr(err->message, "without capstone")) {
		error_destroy(err);
		skip();
	}
	assert_null(err);
	strbuf_add(&text, STR(""));
	for (size_t i = 0; i < count; i++)
		strbuf_printf(&text, "%llx %.*s\n", (unsigned long long)x[i].obj_addr,
			STR_ARG(x[i].text));
	assert_string_equal(text.data ? text.data : "", expected);
	strbuf_deinit(&text);
}

/* push rbp; call g; je the call; call f+1; ret */
static const char calls[] =
	"\x55\xe8\x08\0\0\0\x74\xf9\xe8\xf4\xff\xff\xff\xc3\x90\x90\x90\x90\xc3";

TEST(calls_go_by_name)
{
	struct subject s;

	subject_init(&s, (struct str){calls, sizeof(calls) - 1}, 14);
	expect(&s, SYNTAX_ATT,
		"1000 pushq  %rbp\n1001 callq  g\n1006 je     1001\n1008 callq  1001\n100d retq\n");
	subject_deinit(&s);
	subject_init(&s, (struct str){calls, sizeof(calls) - 1}, 14);
	expect(&s, SYNTAX_INTEL,
		"1000 push   rbp\n1001 call   g\n1006 je     1001\n1008 call   1001\n100d ret\n");
	subject_deinit(&s);
}

TEST(bytes_that_are_none_are_skipped)
{
	struct subject s;

	subject_init(&s, STR("\x06\xc3\x06\x06\xc3"), 5);
	expect(&s, SYNTAX_ATT, "1000 (bad)\n1001 retq\n1002 (bad)\n1003 (bad)\n1004 retq\n");
	subject_deinit(&s);
}

/* The symbol reaches far behind the end of the file's code. */
TEST(what_is_not_in_the_file_is_left_out)
{
	struct subject s;
	const struct instruction *x;
	size_t count = 0;

	subject_init(&s, STR("\x90\x90\x90\x90"), 4);
	struct error *err = disassemble(s.file, s.names, (struct code_range){TEXT, TEXT + 4096},
		SYNTAX_ATT, s.arena, &x, &count);

	if (err == NULL)
		assert_true(count <= 4);
	error_destroy(err);
	err = disassemble(s.file, s.names,
		(struct code_range){TEXT, TEXT + DISASSEMBLE_BYTES_MAX + 1}, SYNTAX_ATT, s.arena,
		&x, &count);
	assert_non_null(err);
	assert_int_equal(err->kind, ERROR_UNSUPPORTED);
	error_destroy(err);
	subject_deinit(&s);
}

TEST(ranges_hold_the_addresses)
{
	const uint64_t addrs[] = {TEXT, TEXT + 13, TEXT + 14, TEXT + 15, 0x999999};
	struct code_range ranges[5];
	struct subject s;

	subject_init(&s, (struct str){calls, sizeof(calls) - 1}, 14);
	assert_int_equal(code_ranges_find(s.file, s.names, addrs, 5, ranges), 2);
	assert_int_equal(ranges[0].low, TEXT);
	assert_int_equal(ranges[0].high, TEXT + 14);
	assert_int_equal(ranges[1].low, TEXT + 14);
	subject_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_go_by_name),
		cmocka_unit_test(bytes_that_are_none_are_skipped),
		cmocka_unit_test(what_is_not_in_the_file_is_left_out),
		cmocka_unit_test(ranges_hold_the_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
