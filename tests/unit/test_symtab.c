/* Names out of symbol tables: which of several, how far they reach, PLT stubs. */
#include <elf.h>

#include "../cfi_bytes.h"
#include "../elf_image.h"
#include "../unit.h"
#include "obj/objfile.h"
#include "obj/symtab.h"

#define TEXT 0x1000
#define DATA 0x9000

enum { TEXT_SECTION = 1, DATA_SECTION, STRINGS_SECTION };

struct row {
	const char *name;
	uint64_t value, size;
	unsigned int type, bind;
	uint16_t section;
};

/* A file with these symbols and what reads it. */
struct fixture {
	struct strbuf strings, symbols, file;
	struct objfile *object;
	struct symtab *table;
};

/* frame: .eh_frame, empty: none. */
static void fixture_open_with(struct fixture *f, const struct row *rows, size_t count,
	uint32_t table_type, struct str code, struct str frame)
{
	static const char data[0x100];
	struct elf_image image = {0};
	Elf64_Sym none = {0};

	*f = (struct fixture){0};
	strbuf_add_char(&f->strings, '\0');
	strbuf_add(&f->symbols, (struct str){(const char *)&none, sizeof(none)});
	for (size_t i = 0; i < count; i++) {
		Elf64_Sym sym = {.st_name = (uint32_t)f->strings.size,
			.st_info = (unsigned char)ELF64_ST_INFO(rows[i].bind, rows[i].type),
			.st_shndx = rows[i].section,
			.st_value = rows[i].value,
			.st_size = rows[i].size};
		strbuf_add(&f->symbols, (struct str){(const char *)&sym, sizeof(sym)});
		strbuf_add(&f->strings, (struct str){rows[i].name, strlen(rows[i].name) + 1});
	}
	elf_image_add(&image, (struct elf_image_section){.name = ".text",
				      .type = SHT_PROGBITS,
				      .flags = SHF_ALLOC | SHF_EXECINSTR,
				      .obj_addr = TEXT,
				      .bytes = code});
	elf_image_add(&image, (struct elf_image_section){.name = ".data",
				      .type = SHT_PROGBITS,
				      .flags = SHF_ALLOC | SHF_WRITE,
				      .obj_addr = DATA,
				      .bytes = {data, sizeof(data)}});
	elf_image_add(&image,
		(struct elf_image_section){
			.name = ".strtab", .type = SHT_STRTAB, .bytes = strbuf_str(&f->strings)});
	elf_image_add(&image, (struct elf_image_section){.name = ".symtab",
				      .type = table_type,
				      .link = STRINGS_SECTION,
				      .entry_size = sizeof(Elf64_Sym),
				      .bytes = strbuf_str(&f->symbols)});
	if (frame.size)
		elf_image_add(&image, (struct elf_image_section){.name = ".eh_frame",
					      .type = SHT_PROGBITS,
					      .flags = SHF_ALLOC,
					      .obj_addr = 0x100000,
					      .bytes = frame});
	elf_image_write(&image, &f->file);
	elf_image_deinit(&image);
	assert_null(objfile_open_memory(f->file.data, f->file.size, "test", &f->object));
	f->table = symtab_create(f->object, NULL);
}

static void fixture_open(
	struct fixture *f, const struct row *rows, size_t count, uint32_t table_type)
{
	static const char code[0x1000];

	fixture_open_with(f, rows, count, table_type, (struct str){code, sizeof(code)}, STR(""));
}

/* With the code and the unwind rules of functions of 16 bytes at these addresses, 0: no more. */
static void fixture_open_code(struct fixture *f, const struct row *rows, size_t count,
	struct str code, const uint64_t *rules)
{
	struct cfi_bytes frame = {.eh = true};

	cfi_bytes_cie(&frame, false);
	for (; *rules; rules++) {
		cfi_bytes_begin_fde(&frame, *rules, 0x10);
		cfi_bytes_end(&frame);
	}
	fixture_open_with(f, rows, count, SHT_SYMTAB, code,
		(struct str){(const char *)frame.out.data, frame.out.count});
	vec_deinit(&frame.out);
}

static void fixture_close(struct fixture *f)
{
	symtab_destroy(f->table);
	objfile_close(f->object);
	strbuf_deinit(&f->strings);
	strbuf_deinit(&f->symbols);
	strbuf_deinit(&f->file);
}

static void check(const struct fixture *f, uint64_t addr, const char *expected)
{
	struct symbol symbol;
	bool found = symtab_find(f->table, addr, &symbol);

	assert_int_equal(found, expected != NULL);
	if (found)
		assert_true(str_equal(symbol.name, str_from(expected)));
}

TEST(sizes_are_respected)
{
	static const struct row rows[] = {
		{"a", 0x1000, 0x10, STT_FUNC, STB_GLOBAL, TEXT_SECTION},
		{"b", 0x1020, 0x10, STT_FUNC, STB_LOCAL, TEXT_SECTION},
		{"past_the_end", 0x1ff0, 0x1000, STT_FUNC, STB_LOCAL, TEXT_SECTION},
	};
	struct fixture f;

	fixture_open(&f, rows, ARRAY_SIZE(rows), SHT_SYMTAB);
	assert_true(symtab_is_full(f.table));
	check(&f, 0xfff, NULL);
	check(&f, 0x1000, "a");
	check(&f, 0x100f, "a");
	check(&f, 0x1010, NULL);
	check(&f, 0x1020, "b");
	check(&f, 0x1fff, "past_the_end");
	check(&f, 0x2000, NULL);
	fixture_close(&f);
}

TEST(symbols_without_size_reach_to_the_next)
{
	static const struct row rows[] = {
		{"start", 0x1000, 0, STT_NOTYPE, STB_GLOBAL, TEXT_SECTION},
		{"next", 0x1020, 0x10, STT_FUNC, STB_LOCAL, TEXT_SECTION},
		{"label", 0x1024, 0, STT_NOTYPE, STB_LOCAL, TEXT_SECTION},
		{"last", 0x1040, 0, STT_NOTYPE, STB_LOCAL, TEXT_SECTION},
	};
	struct fixture f;

	fixture_open(&f, rows, ARRAY_SIZE(rows), SHT_SYMTAB);
	check(&f, 0x101f, "start");
	check(&f, 0x1028, "next");
	check(&f, 0x1030, NULL);
	check(&f, 0x1fff, "last");
	fixture_close(&f);
}

TEST(inner_functions_have_their_part)
{
	static const struct row rows[] = {
		{"outer", 0x1000, 0x100, STT_FUNC, STB_GLOBAL, TEXT_SECTION},
		{"inner", 0x1040, 0x10, STT_FUNC, STB_LOCAL, TEXT_SECTION},
	};
	struct fixture f;

	fixture_open(&f, rows, ARRAY_SIZE(rows), SHT_SYMTAB);
	check(&f, 0x103f, "outer");
	check(&f, 0x1040, "inner");
	check(&f, 0x1050, "outer");
	fixture_close(&f);
}

TEST(the_best_of_several_names_is_taken)
{
	static const struct row rows[] = {
		{"untyped", 0x1000, 0x10, STT_NOTYPE, STB_GLOBAL, TEXT_SECTION},
		{"local", 0x1000, 0x10, STT_FUNC, STB_LOCAL, TEXT_SECTION},
		{"__write", 0x1000, 0x10, STT_FUNC, STB_GLOBAL, TEXT_SECTION},
		{"write", 0x1000, 0x10, STT_FUNC, STB_WEAK, TEXT_SECTION},
		{"write_long", 0x1000, 0x10, STT_FUNC, STB_GLOBAL, TEXT_SECTION},
		{"resolver", 0x1020, 0x10, STT_GNU_IFUNC, STB_GLOBAL, TEXT_SECTION},
		{"sizeless", 0x1040, 0, STT_FUNC, STB_GLOBAL, TEXT_SECTION},
		{"sized", 0x1040, 8, STT_FUNC, STB_LOCAL, TEXT_SECTION},
	};
	struct fixture f;

	fixture_open(&f, rows, ARRAY_SIZE(rows), SHT_SYMTAB);
	check(&f, 0x1008, "write");
	check(&f, 0x1020, "resolver");
	check(&f, 0x1047, "sized");
	check(&f, 0x1048, NULL);
	fixture_close(&f);
}

TEST(only_functions_count)
{
	static const struct row rows[] = {
		{"object", 0x1000, 0x10, STT_OBJECT, STB_GLOBAL, TEXT_SECTION},
		{"data", DATA, 0x10, STT_NOTYPE, STB_GLOBAL, DATA_SECTION},
		{"undefined", 0x1000, 0x10, STT_FUNC, STB_GLOBAL, SHN_UNDEF},
		{"absolute", 0x1000, 0x10, STT_FUNC, STB_GLOBAL, SHN_ABS},
		{"elsewhere", 0x5000, 0x10, STT_FUNC, STB_GLOBAL, TEXT_SECTION},
		{"no_section", 0x1000, 0x10, STT_FUNC, STB_GLOBAL, 77},
		{".L5", 0x1000, 0, STT_NOTYPE, STB_LOCAL, TEXT_SECTION},
		{"$x", 0x1000, 0, STT_NOTYPE, STB_LOCAL, TEXT_SECTION},
		{"", 0x1000, 0x10, STT_FUNC, STB_LOCAL, TEXT_SECTION},
	};
	struct fixture f;

	fixture_open(&f, rows, ARRAY_SIZE(rows), SHT_SYMTAB);
	assert_int_equal(symtab_count(f.table), 0);
	fixture_close(&f);
}

TEST(versions_are_left_out)
{
	static const struct row rows[] = {
		{"write@@GLIBC_2.2.5", 0x1000, 0x10, STT_FUNC, STB_GLOBAL, TEXT_SECTION},
		{"old@V1", 0x1010, 0x10, STT_FUNC, STB_GLOBAL, TEXT_SECTION},
		{"@odd", 0x1020, 0x10, STT_FUNC, STB_GLOBAL, TEXT_SECTION},
	};
	struct fixture f;

	fixture_open(&f, rows, ARRAY_SIZE(rows), SHT_SYMTAB);
	check(&f, 0x1000, "write");
	check(&f, 0x1010, "old");
	check(&f, 0x1020, "@odd");
	fixture_close(&f);
}

TEST(exported_names_alone_are_not_all)
{
	static const struct row rows[] = {
		{"exported", 0x1000, 0x10, STT_FUNC, STB_GLOBAL, TEXT_SECTION},
	};
	struct fixture f;

	fixture_open(&f, rows, ARRAY_SIZE(rows), SHT_DYNSYM);
	assert_false(symtab_is_full(f.table));
	check(&f, 0x1000, "exported");
	fixture_close(&f);
}

TEST(aliases_are_all_other_names_of_a_function)
{
	static const struct row rows[] = {
		{"malloc@@GLIBC_2.2.5", TEXT, 64, STT_FUNC, STB_GLOBAL, TEXT_SECTION},
		{"__libc_malloc", TEXT, 64, STT_FUNC, STB_GLOBAL, TEXT_SECTION},
		{"label", TEXT, 0, STT_NOTYPE, STB_LOCAL, TEXT_SECTION},
		{"free", TEXT + 64, 64, STT_FUNC, STB_GLOBAL, TEXT_SECTION},
	};
	struct fixture f;
	struct str names[4];

	fixture_open(&f, rows, ARRAY_SIZE(rows), SHT_SYMTAB);
	assert_int_equal(symtab_aliases(f.table, TEXT + 8, STR("malloc"), names, 4), 2);
	for (size_t i = 0; i < 2; i++)
		assert_true(str_equal(names[i], STR("__libc_malloc")) ||
			    str_equal(names[i], STR("label")));
	assert_false(str_equal(names[0], names[1]));
	/* No more than there is room for; none of who is not there. */
	assert_int_equal(symtab_aliases(f.table, TEXT + 8, STR("malloc"), names, 1), 1);
	assert_int_equal(symtab_aliases(f.table, TEXT + 8, STR("free"), names, 4), 0);
	assert_int_equal(symtab_aliases(f.table, TEXT + 64, STR("free"), names, 4), 0);
	assert_int_equal(symtab_aliases(f.table, TEXT + 500, STR("free"), names, 4), 0);
	fixture_close(&f);
}

TEST(many_names_for_one_address_are_quick)
{
	enum { COUNT = 200000 };
	struct row *rows = xcalloc(COUNT, sizeof(*rows));
	struct fixture f;

	for (size_t i = 0; i < COUNT; i++)
		rows[i] = (struct row){
			"alias", TEXT + (i & 1), COUNT - i, STT_FUNC, STB_GLOBAL, TEXT_SECTION};
	fixture_open(&f, rows, COUNT, SHT_SYMTAB);
	check(&f, 0x1000, "alias");
	fixture_close(&f);
	free(rows);
}

/*
 * Code with a local label, so without a symbol, behind symbols without size: with rules of its own,
 * as in assembly, and without, as GHC's.
 */
TEST(symbols_without_size_end_where_their_code_does)
{
	static const struct row rows[] = {
		{"jumps_away", 0x1000, 0, STT_FUNC, STB_LOCAL, TEXT_SECTION},
		{"has_rules", 0x1020, 0, STT_FUNC, STB_LOCAL, TEXT_SECTION},
		{"branches", 0x1060, 0, STT_NOTYPE, STB_LOCAL, TEXT_SECTION},
		{"by_table", 0x1080, 0, STT_FUNC, STB_LOCAL, TEXT_SECTION},
		{"late_rules", 0x10a0, 0, STT_FUNC, STB_LOCAL, TEXT_SECTION},
		{"sized", 0x10e0, 0x10, STT_FUNC, STB_GLOBAL, TEXT_SECTION},
	};
	static const uint64_t rules[] = {0x1020, 0x1040, 0x10a1, 0x10c0, 0};
	static const uint8_t jump_away[] = {0xf3, 0x0f, 0x1e, 0xfa, 0xe9, 0xf7, 0xf0, 0xff, 0xff};
	static const uint8_t branch[] = {0x74, 0x02, 0xc3, 0x90, 0xc3}; /* je +2; ret; nop; ret */
	static const uint8_t by_table[] = {0xff, 0xe0};			/* jmp *%rax */
	static const uint8_t late[] = {0x55, 0xc3};			/* push %rbp; ret */
	char code[0x1000];
	struct fixture f;

	memset(code, 0x90, sizeof(code));
	memcpy(code, jump_away, sizeof(jump_away));
	memcpy(code + 0x60, branch, sizeof(branch));
	memcpy(code + 0x80, by_table, sizeof(by_table));
	memcpy(code + 0xa0, late, sizeof(late));
	fixture_open_code(&f, rows, ARRAY_SIZE(rows), (struct str){code, sizeof(code)}, rules);
	check(&f, 0x1008, "jumps_away");
	check(&f, 0x1009, NULL);
	assert_int_equal(symtab_end_before(f.table, 0x1010), 0x1009);
	check(&f, 0x103f, "has_rules");
	check(&f, 0x1040, NULL);
	check(&f, 0x1064, "branches");
	check(&f, 0x1065, NULL);
	check(&f, 0x109f, "by_table");
	check(&f, 0x10a1, "late_rules");
	check(&f, 0x10c0, NULL);
	check(&f, 0x10e0, "sized");
	fixture_close(&f);
}

TEST(parts_of_a_function_have_its_name)
{
	static const struct row rows[] = {
		{"sort", 0x1000, 0x10, STT_FUNC, STB_GLOBAL, TEXT_SECTION},
		{"sort.__part.12", 0x1010, 0x10, STT_FUNC, STB_LOCAL, TEXT_SECTION},
		{"sort.__part.", 0x1020, 0x10, STT_FUNC, STB_LOCAL, TEXT_SECTION},
		{".__part.1", 0x1030, 0x10, STT_FUNC, STB_LOCAL, TEXT_SECTION},
		{"sort.cold", 0x1040, 0x10, STT_FUNC, STB_LOCAL, TEXT_SECTION},
		{"42", 0x1050, 0x10, STT_FUNC, STB_LOCAL, TEXT_SECTION},
	};
	struct fixture f;

	fixture_open(&f, rows, ARRAY_SIZE(rows), SHT_SYMTAB);
	check(&f, 0x1000, "sort");
	check(&f, 0x1010, "sort");
	check(&f, 0x1020, "sort.__part.");
	check(&f, 0x1030, ".__part.1");
	check(&f, 0x1040, "sort.cold");
	check(&f, 0x1050, "42");
	fixture_close(&f);
}

static void check_twin(
	const struct fixture *f, uint64_t addr, bool is_twin, const char *file, uint64_t start)
{
	struct symbol symbol;

	assert_true(symtab_find(f->table, addr, &symbol));
	assert_int_equal(symbol.is_twin, is_twin);
	assert_int_equal(symbol.file != NULL, file != NULL);
	if (file)
		assert_string_equal(symbol.file, file);
	assert_int_equal(symbol.start, start);
}

/* Static functions of one name: by their files if these differ, else only by where they are. */
TEST(twins_are_told_by_their_files)
{
	static const struct row rows[] = {
		{"a.c", 0, 0, STT_FILE, STB_LOCAL, SHN_ABS},
		{"step", 0x1000, 0x10, STT_FUNC, STB_LOCAL, TEXT_SECTION},
		{"same", 0x1010, 0x10, STT_FUNC, STB_LOCAL, TEXT_SECTION},
		{"only", 0x1020, 0x10, STT_FUNC, STB_LOCAL, TEXT_SECTION},
		{"b.c", 0, 0, STT_FILE, STB_LOCAL, SHN_ABS},
		{"step", 0x1030, 0x10, STT_FUNC, STB_LOCAL, TEXT_SECTION},
		{"a.c", 0, 0, STT_FILE, STB_LOCAL, SHN_ABS},
		{"same", 0x1040, 0x10, STT_FUNC, STB_LOCAL, TEXT_SECTION},
		{"alias", 0x1050, 0x10, STT_FUNC, STB_LOCAL, TEXT_SECTION},
		{"alias", 0x1050, 0x10, STT_FUNC, STB_LOCAL, TEXT_SECTION},
		{"only", 0x1060, 0x10, STT_FUNC, STB_GLOBAL, TEXT_SECTION},
	};
	struct fixture f;

	fixture_open(&f, rows, ARRAY_SIZE(rows), SHT_SYMTAB);
	check_twin(&f, 0x1008, true, "a.c", 0x1000);
	check_twin(&f, 0x1038, true, "b.c", 0x1030);
	check_twin(&f, 0x1018, true, NULL, 0x1010);
	check_twin(&f, 0x1048, true, NULL, 0x1040);
	check_twin(&f, 0x1028, false, "a.c", 0x1020);
	check_twin(&f, 0x1058, false, "a.c", 0x1050);
	check_twin(&f, 0x1068, false, NULL, 0x1060);
	fixture_close(&f);
}

/* A .dynsym alone, and unwind rules for two functions that it does not have. */
TEST(symbols_without_size_end_before_nameless_functions)
{
	static const char names[] = "\0start\0sized\0last", code[0x1000];
	const Elf64_Sym symbols[] = {{0},
		{.st_name = 1, .st_info = STT_FUNC, .st_shndx = 1, .st_value = 0x1000},
		{.st_name = 7,
			.st_info = STT_FUNC,
			.st_shndx = 1,
			.st_value = 0x1040,
			.st_size = 0x30},
		{.st_name = 13, .st_info = STT_NOTYPE, .st_shndx = 1, .st_value = 0x1080}};
	static const uint64_t starts[] = {0x1000, 0x1020, 0x1040, 0x1060, 0x10a0};
	struct cfi_bytes rules = {.eh = true};
	struct elf_image image = {0};
	struct fixture f = {0};

	cfi_bytes_cie(&rules, false);
	for (size_t i = 0; i < ARRAY_SIZE(starts); i++) {
		cfi_bytes_begin_fde(&rules, starts[i], 0x10);
		cfi_bytes_end(&rules);
	}
	const struct elf_image_section sections[] = {
		{.name = ".text",
			.type = SHT_PROGBITS,
			.flags = SHF_ALLOC | SHF_EXECINSTR,
			.obj_addr = TEXT,
			.bytes = {code, sizeof(code)}},
		{.name = ".dynstr", .type = SHT_STRTAB, .bytes = {names, sizeof(names)}},
		{.name = ".dynsym",
			.type = SHT_DYNSYM,
			.link = 2,
			.bytes = {(const char *)symbols, sizeof(symbols)}},
		{.name = ".eh_frame",
			.type = SHT_PROGBITS,
			.flags = SHF_ALLOC,
			.obj_addr = 0x100000,
			.bytes = {(const char *)rules.out.data, rules.out.count}},
	};
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		elf_image_add(&image, sections[i]);
	elf_image_write(&image, &f.file);
	elf_image_deinit(&image);
	vec_deinit(&rules.out);
	assert_null(objfile_open_memory(f.file.data, f.file.size, "test", &f.object));
	f.table = symtab_create(f.object, NULL);
	check(&f, 0x101f, "start");
	check(&f, 0x1020, NULL);
	check(&f, 0x103f, NULL);
	check(&f, 0x1060, "sized"); /* a size is believed */
	check(&f, 0x1070, NULL);
	check(&f, 0x109f, "last");
	check(&f, 0x10a0, NULL);
	fixture_close(&f);
}

/* jmp *slot(%rip) behind an endbr64, as in .plt.sec; the slot's relocation is of symbol 1. */
static bool find_stub(const char *names, size_t names_size, struct strbuf *name)
{
	static const unsigned char stub[16] = {
		0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 0xf6, 0x0f, 0, 0};
	const Elf64_Sym symbols[2] = {
		{0}, {.st_name = 1, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)}};
	const Elf64_Rela rela = {.r_offset = 0x2000, .r_info = ELF64_R_INFO(1, R_X86_64_JUMP_SLOT)};
	struct elf_image image = {0};
	struct strbuf file = {0};
	struct objfile *object;
	struct symbol symbol;

	elf_image_add(&image, (struct elf_image_section){.name = ".plt.sec",
				      .type = SHT_PROGBITS,
				      .flags = SHF_ALLOC | SHF_EXECINSTR,
				      .obj_addr = TEXT,
				      .bytes = {(const char *)stub, sizeof(stub)}});
	elf_image_add(&image,
		(struct elf_image_section){
			.name = ".dynstr", .type = SHT_STRTAB, .bytes = {names, names_size}});
	elf_image_add(&image, (struct elf_image_section){.name = ".dynsym",
				      .type = SHT_DYNSYM,
				      .link = 2,
				      .bytes = {(const char *)symbols, sizeof(symbols)}});
	elf_image_add(&image, (struct elf_image_section){.name = ".rela.plt",
				      .type = SHT_RELA,
				      .flags = SHF_ALLOC,
				      .link = 3,
				      .obj_addr = 0x8000,
				      .bytes = {(const char *)&rela, sizeof(rela)}});
	elf_image_write(&image, &file);
	assert_null(objfile_open_memory(file.data, file.size, "test", &object));
	struct symtab *table = symtab_create(object, NULL);
	bool found = symtab_find(table, TEXT + 4, &symbol);
	if (found)
		strbuf_add(name, symbol.name);
	assert_true(!found || symbol.is_plt);
	assert_false(symtab_find(table, TEXT + 16, &symbol));
	symtab_destroy(table);
	objfile_close(object);
	elf_image_deinit(&image);
	strbuf_deinit(&file);
	return found;
}

TEST(plt_stubs_are_named)
{
	static const char names[] = "\0puts@GLIBC_2.2.5", nameless[] = "\0\0other@V1";
	struct strbuf name = {0};

	assert_true(find_stub(names, sizeof(names), &name));
	assert_string_equal(name.data, "puts");
	assert_false(find_stub(nameless, sizeof(nameless), &name));
	strbuf_deinit(&name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_are_respected),
		cmocka_unit_test(symbols_without_size_reach_to_the_next),
		cmocka_unit_test(symbols_without_size_end_before_nameless_functions),
		cmocka_unit_test(symbols_without_size_end_where_their_code_does),
		cmocka_unit_test(parts_of_a_function_have_its_name),
		cmocka_unit_test(twins_are_told_by_their_files),
		cmocka_unit_test(inner_functions_have_their_part),
		cmocka_unit_test(the_best_of_several_names_is_taken),
		cmocka_unit_test(only_functions_count),
		cmocka_unit_test(versions_are_left_out),
		cmocka_unit_test(exported_names_alone_are_not_all),
		cmocka_unit_test(aliases_are_all_other_names_of_a_function),
		cmocka_unit_test(many_names_for_one_address_are_quick),
		cmocka_unit_test(plt_stubs_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
