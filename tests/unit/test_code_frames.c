/*
 * Rules that are read off machine code: functions written out here, and the libraries of this
 * machine, whose own unwind rules say what should come out.
 */

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../elf_image.h"
#include "../unit.h"
#include "obj/cfi.h"
#include "obj/code_frames.h"
#include "obj/go_functions.h"
#include "obj/objfile.h"
#include "arch/arch.h"
#include "arch/x86_code.h"

enum { TEXT_ADDR = 0x401000 };

/* ---- functions written out ---- */

static bool read_bytes(void *context, uint64_t obj_addr, uint8_t *bytes, size_t size)
{
	const struct code_piece *code = context;

	memcpy(bytes, code->bytes + (obj_addr - code->obj_addr), size);
	return true;
}

static void add_no_starts(void *context, struct code_starts *starts)
{
	(void)context;
	(void)starts;
}

/* The code compiled last; its table reads from it. */
static struct code_piece piece;

static struct cfi_table *compile(const void *bytes, size_t size)
{
	piece = (struct code_piece){TEXT_ADDR, bytes, size, &arch_x86_64};
	struct cfi_code code = {.ranges = {{TEXT_ADDR, TEXT_ADDR + size}},
		.count = 1,
		.read = read_bytes,
		.add_starts = add_no_starts,
		.context = &piece,
		.arch = &arch_x86_64};
	return cfi_table_open(&(struct cfi_source){.object = {.name = "test", .code = &code}});
}

struct expected {
	size_t at;
	enum cfi_kind kind;
	int32_t cfa, bp, bx;
};

static void check(struct cfi_table *table, const struct expected *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct cfi_rule *rule = cfi_table_find(table, TEXT_ADDR + rows[i].at);

		assert_int_equal(rule->kind, rows[i].kind);
		if (rule->kind == CFI_CODE_SP || rule->kind == CFI_CODE_BP) {
			assert_int_equal(rule->cfa_offset, rows[i].cfa);
			assert_int_equal(rule->bp_offset, rows[i].bp);
			assert_int_equal(rule->bx_offset, rows[i].bx);
		}
	}
}

#define CHECK(code, ...)                                                                           \
	do {                                                                                       \
		static const struct expected rows[] = {__VA_ARGS__};                               \
		struct cfi_table *table = compile(code, sizeof(code));                             \
		check(table, rows, sizeof(rows) / sizeof(*rows));                                  \
		cfi_table_destroy(table);                                                          \
	} while (0)

TEST(test_pushes_and_room)
{
	static const uint8_t code[] = {
		0x55, /* 0 push %rbp */
		0x53, /* 1 push %rbx */
		0x48,
		0x83,
		0xec,
		0x18, /* 2 sub $24, %rsp */
		0x89,
		0xfd, /* 6 mov %edi, %ebp */
		0x48,
		0x83,
		0xc4,
		0x18, /* 8 add $24, %rsp */
		0x5b, /* 12 pop %rbx */
		0x5d, /* 13 pop %rbp */
		0xc3, /* 14 ret */
		0x90,
		0x90,
		0x90,
		0x90,
	};
	CHECK(code, {0, CFI_CODE_SP, 8, 0, 0}, {1, CFI_CODE_SP, 16, -16, 0},
		{2, CFI_CODE_SP, 24, -16, -24}, {6, CFI_CODE_SP, 48, -16, -24},
		{8, CFI_CODE_SP, 48, -16, -24}, {12, CFI_CODE_SP, 24, -16, -24},
		{13, CFI_CODE_SP, 16, -16, 0}, {14, CFI_CODE_SP, 8, 0, 0});
}

TEST(test_a_realigned_stack)
{
	static const uint8_t code[] = {
		0x55,			/* 0 push %rbp */
		0x48, 0x89, 0xe5,	/* 1 mov %rsp, %rbp */
		0x48, 0x83, 0xe4, 0xe0, /* 4 and $-32, %rsp */
		0x48, 0x83, 0xec, 0x40, /* 8 sub $64, %rsp */
		0xe8, 0, 1, 0, 0,	/* 12 call */
		0xc9,			/* 17 leave */
		0xc3,			/* 18 ret */
	};
	CHECK(code, {4, CFI_CODE_SP, 16, -16, 0}, {8, CFI_CODE_BP, 16, -16, 0},
		{12, CFI_CODE_BP, 16, -16, 0}, {17, CFI_CODE_BP, 16, -16, 0},
		{18, CFI_CODE_SP, 8, 0, 0});
}

TEST(test_an_early_return_and_a_switch)
{
	static const uint8_t code[] = {
		0x85, 0xff,		/* 0 test %edi, %edi */
		0x74, 0x09,		/* 2 je 13 */
		0x48, 0x83, 0xec, 0x28, /* 4 sub $40, %rsp */
		0xff, 0xe0,		/* 8 jmp *%rax */
		0x90, 0x90, 0x90,	/* 10 */
		0xc3,			/* 13 ret: reached by the branch */
		0x90, 0x90,		/* 14 */
		0x89, 0xc0,		/* 16 a case: only the jump's table leads here */
		0x48, 0x83, 0xc4, 0x28, /* 18 add $40, %rsp */
		0xc3,			/* 22 ret */
	};
	CHECK(code, {2, CFI_CODE_SP, 8, 0, 0}, {8, CFI_CODE_SP, 48, 0, 0},
		{13, CFI_CODE_SP, 8, 0, 0}, {16, CFI_CODE_SP, 48, 0, 0},
		{22, CFI_CODE_SP, 8, 0, 0});
}

TEST(test_registers_saved_by_moves)
{
	static const uint8_t code[] = {
		0x48, 0x83, 0xec, 0x38,	      /* 0 sub $56, %rsp */
		0x48, 0x89, 0x6c, 0x24, 0x30, /* 4 mov %rbp, 48(%rsp) */
		0x48, 0x8d, 0x6c, 0x24, 0x30, /* 9 lea 48(%rsp), %rbp */
		0xe8, 0, 1, 0, 0,	      /* 14 call */
		0x48, 0x8b, 0x6c, 0x24, 0x30, /* 19 mov 48(%rsp), %rbp */
		0x48, 0x83, 0xc4, 0x38,	      /* 24 add $56, %rsp */
		0xc3,			      /* 28 ret */
	};
	CHECK(code, {4, CFI_CODE_SP, 64, 0, 0}, {9, CFI_CODE_SP, 64, -16, 0},
		{14, CFI_CODE_SP, 64, -16, 0}, {24, CFI_CODE_SP, 64, 0, 0},
		{28, CFI_CODE_SP, 8, 0, 0});
}

TEST(test_where_stacks_begin)
{
	static const uint8_t start[] = {
		0x31,
		0xed, /* 0 xor %ebp, %ebp */
		0x48,
		0x89,
		0xe7, /* 2 mov %rsp, %rdi */
		0xe8,
		0,
		1,
		0,
		0,    /* 5 call */
		0xf4, /* 10 hlt */
		0x90,
		0x90,
		0x90,
		0x90,
		0x90,
	};
	static const uint8_t switched[] = {
		0x48,
		0x89,
		0x27, /* 0 mov %rsp, (%rdi) */
		0x48,
		0x89,
		0xf4, /* 3 mov %rsi, %rsp */
		0xff,
		0xd2, /* 6 call *%rdx */
		0x0f,
		0x0b, /* 8 ud2 */
		0x90,
		0x90,
		0x90,
		0x90,
		0x90,
		0x90,
	};
	static const uint8_t go_exit[] = {0x90, 0xe8, 0, 1, 0, 0, 0x90, 0xcc, 0xcc, 0xcc, 0xcc,
		0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc};
	CHECK(start, {5, CFI_END, 0, 0, 0}, {9, CFI_END, 0, 0, 0});
	CHECK(switched, {3, CFI_CODE_SP, 8, 0, 0}, {7, CFI_END, 0, 0, 0});
	CHECK(go_exit, {0, CFI_END, 0, 0, 0}, {1, CFI_END, 0, 0, 0});
}

TEST(test_a_return_address_that_was_popped)
{
	static const uint8_t vfork_code[] = {
		0x5a, /* 0 pop %rdx */
		0xb8,
		0x3a,
		0,
		0,
		0, /* 1 mov $58, %eax */
		0x0f,
		0x05, /* 6 syscall */
		0x52, /* 8 push %rdx */
		0xc3, /* 9 ret */
		0x90,
		0x90,
		0x90,
		0x90,
		0x90,
		0x90,
	};
	struct cfi_table *table = compile(vfork_code, sizeof(vfork_code));
	const struct cfi_rule *rule = cfi_table_find(table, TEXT_ADDR + 6);

	assert_int_equal(rule->kind, CFI_SLOW);
	const struct cfi_slow_rule *slow = cfi_table_slow(table, rule->slow);
	assert_int_equal(slow->how[CFI_REGISTER_RA], CFI_REGISTER);
	assert_int_equal(slow->value[CFI_REGISTER_RA], 1);
	assert_int_equal(slow->cfa_value, 0);
	assert_int_equal(cfi_table_find(table, TEXT_ADDR + 9)->kind, CFI_CODE_SP);
	assert_int_equal(cfi_table_find(table, TEXT_ADDR + 9)->cfa_offset, 8);
	cfi_table_destroy(table);
}

/* ---- lengths ---- */

TEST(test_lengths)
{
	static const struct {
		uint8_t bytes[15], size;
	} cases[] = {
		{{0xf3, 0x0f, 0x1e, 0xfa}, 4},			       /* endbr64 */
		{{0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0}, 10},   /* nop */
		{{0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8}, 10},	       /* movabs */
		{{0x66, 0xb8, 1, 2}, 4},			       /* mov $, %ax */
		{{0xf7, 0xc7, 1, 0, 0, 0}, 6},			       /* test $, %edi */
		{{0xf7, 0xdf}, 2},				       /* neg %edi */
		{{0xc5, 0xf8, 0x77}, 3},			       /* vzeroupper */
		{{0xc5, 0xfd, 0x6f, 0x44, 0x24, 0x20}, 6},	       /* vmovdqa */
		{{0xc4, 0xe3, 0x79, 0x14, 0xc0, 0x01}, 6},	       /* vpextrb */
		{{0xc4, 0xe2, 0xf1, 0xf7, 0xc0}, 5},		       /* shlx */
		{{0x62, 0xf1, 0x7c, 0x48, 0x10, 0x44, 0x24, 0x01}, 8}, /* vmovups */
		{{0x62, 0xf3, 0x7d, 0x48, 0x3f, 0xc1, 0x04}, 7},       /* vpcmpub */
		{{0x48, 0x8b, 0x04, 0xc5, 0, 0, 0, 0}, 8},	       /* mov (,%rax,8), %rax */
		{{0x0f, 0xba, 0xe0, 0x07}, 4},			       /* bt $7, %eax */
		{{0x66, 0x0f, 0x3a, 0x0f, 0xc1, 0x08}, 6},	       /* palignr */
		{{0xf2, 0x48, 0x0f, 0x38, 0xf1, 0xc6}, 6},	       /* crc32 */
		{{0xc8, 0x10, 0, 0}, 4},			       /* enter */
		{{0xa1, 1, 2, 3, 4, 5, 6, 7, 8}, 9},		       /* mov abs, %eax */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct arch_instruction one = x86_decode(cases[i].bytes, 15, TEXT_ADDR);
		assert_int_equal(one.size, cases[i].size);
		assert_int_not_equal(one.kind, INSTRUCTION_BAD);
		for (size_t size = 0; size < cases[i].size; size++)
			assert_int_equal(x86_decode(cases[i].bytes, size, 0).kind, INSTRUCTION_BAD);
	}
}

/* ---- against real unwind rules ---- */

struct agreement {
	uint64_t compared, equal;
};

/* Whether the CFAs of both rules are the same, as far as that is known without registers. */
static bool is_comparable(const struct cfi_rule *real, const struct cfi_rule *ours)
{
	return (real->kind == CFI_SP && ours->kind != CFI_CODE_BP) ||
	       (real->kind == CFI_BP && ours->kind != CFI_CODE_SP);
}

/* Compilers do not say that bp has been restored when sp is past where it was saved. */
static bool is_popped(const struct cfi_rule *real)
{
	return real->kind == CFI_SP && -real->bp_offset > real->cfa_offset;
}

static bool is_same(const struct cfi_rule *real, const struct cfi_rule *ours)
{
	return (ours->kind == CFI_CODE_SP || ours->kind == CFI_CODE_BP) &&
	       ours->cfa_offset == real->cfa_offset &&
	       (ours->bp_offset == real->bp_offset || is_popped(real));
}

static void compare(struct cfi_table *real, struct cfi_table *ours,
	const struct objfile_section *text, struct agreement *a)
{
	for (size_t at = 0; at < text->size;) {
		uint64_t addr = text->obj_addr + at;
		const struct cfi_rule *r = cfi_table_find(real, addr);
		const struct cfi_rule *o = cfi_table_find(ours, addr);

		struct arch_instruction i = x86_decode(text->bytes + at, text->size - at, addr);

		/* What fills up is not reached. */
		if (is_comparable(r, o) && i.kind != INSTRUCTION_NOP) {
			a->compared++;
			a->equal += is_same(r, o);
		}
		at += i.size;
	}
}

/* The share of addresses, of those that can be compared, at which the code says what the rules do.
 */
static double agreement(const char *path)
{
	struct agreement a = {0};
	struct objfile_section text;
	struct cfi_code code;
	struct objfile *file;
	struct error *err = objfile_open(path, &file);

	error_destroy(err);
	if (err)
		return -1;
	assert_true(objfile_section(file, ".text", &text));
	struct cfi_table *real = objfile_open_cfi(file);
	objfile_code(file, &code);
	struct cfi_source source = {.object = {.name = path, .code = &code}};
	struct cfi_table *ours = cfi_table_open(&source);
	compare(real, ours, &text, &a);
	double share = a.compared ? (double)a.equal / (double)a.compared : 1;
	printf("# %s: %.4f of %llu addresses\n", path, share, (unsigned long long)a.compared);
	cfi_table_destroy(real);
	cfi_table_destroy(ours);
	objfile_close(file);
	return share;
}

TEST(test_the_libraries_of_this_machine)
{
	static const char *const paths[] = {"/lib/x86_64-linux-gnu/libc.so.6",
		"/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
		"/usr/lib/x86_64-linux-gnu/libcrypto.so.3", "/lib/x86_64-linux-gnu/libm.so.6",
		"/usr/lib/x86_64-linux-gnu/libelf.so.1"};
	int found = 0;

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		double share = agreement(paths[i]);
		if (share < 0)
			continue;
		found++;
		assert_true(share > 0.95);
	}
	if (found == 0)
		skip();
}

/* ---- Go's table ---- */

static void put(struct strbuf *b, uint64_t number, size_t size)
{
	for (size_t i = 0; i < size; i++)
		strbuf_add_char(b, (char)(number >> (8 * i)));
}

/* Functions at TEXT_ADDR + 0x10 and + 0x30, the last ends at + 0x50. */
static void put_go_table(struct strbuf *b, uint32_t magic)
{
	bool is_new = magic == 0xfffffff0 || magic == 0xfffffff1, is_old = magic == 0xfffffffb;
	size_t width = is_new ? 4 : 8;
	uint64_t base = is_new ? 0 : TEXT_ADDR;
	uint64_t header = is_old ? 16 : is_new ? 72 : 64, table_size = 5 * width + width;
	uint64_t entry = table_size, name = is_old ? header + table_size + 2 * (width + 4) : 0;

	put(b, magic, 4);
	put(b, 0, 2);
	put(b, 1, 1);
	put(b, 8, 1);
	put(b, 2, 8);
	if (!is_old) {
		put(b, 0, 8);
		if (is_new)
			put(b, TEXT_ADDR, 8);
		put(b, header + table_size + 2 * (width + 4), 8); /* names */
		for (int i = 0; i < 3; i++)
			put(b, 0, 8);
		put(b, header, 8); /* functions */
	}
	uint64_t entries_from = is_old ? header : 0;
	for (uint64_t i = 0; i < 2; i++) {
		put(b, base + 0x10 + 0x20 * i, width);
		put(b,
			entry + i * (width + 4) + (is_old ? entries_from : 0) -
				(is_old ? entries_from : 0),
			width);
	}
	put(b, base + 0x50, width);
	put(b, 0, width);
	put(b, 0x10, width);
	put(b, name, 4);
	put(b, 0x30, width);
	put(b, name + 10, 4);
	strbuf_add(b, (struct str){"main.main\0main.work", 20});
}

static void note_function(void *context, uint64_t low, uint64_t high, const char *name)
{
	struct strbuf *out = context;

	strbuf_printf(
		out, "%llx-%llx %s\n", (unsigned long long)low, (unsigned long long)high, name);
}

static void check_go_table(uint32_t magic)
{
	struct elf_image image = {0};
	struct strbuf table = {0}, elf = {0}, out = {0};
	struct objfile *file;

	put_go_table(&table, magic);
	elf_image_add(&image, (struct elf_image_section){.name = ".gopclntab",
				      .type = SHT_PROGBITS,
				      .flags = SHF_ALLOC,
				      .obj_addr = 0x500000,
				      .bytes = strbuf_str(&table)});
	elf_image_write(&image, &elf);
	assert_null(objfile_open_memory(elf.data, elf.size, "go", &file));
	assert_true(go_functions_each(file, note_function, &out));
	strbuf_add_char(&out, '\0');
	assert_string_equal(out.data, "401010-401030 main.main\n401030-401050 main.work\n");
	objfile_close(file);
	strbuf_deinit(&out);
	strbuf_deinit(&elf);
	strbuf_deinit(&table);
	elf_image_deinit(&image);
}

TEST(test_function_tables_of_go)
{
	check_go_table(0xfffffff1);
	check_go_table(0xfffffff0);
	check_go_table(0xfffffffa);
	check_go_table(0xfffffffb);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pushes_and_room),
		cmocka_unit_test(test_a_realigned_stack),
		cmocka_unit_test(test_an_early_return_and_a_switch),
		cmocka_unit_test(test_registers_saved_by_moves),
		cmocka_unit_test(test_where_stacks_begin),
		cmocka_unit_test(test_a_return_address_that_was_popped),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_the_libraries_of_this_machine),
		cmocka_unit_test(test_function_tables_of_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
