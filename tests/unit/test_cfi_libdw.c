/*
 * Compiled tables against libdw's own reading of the same sections, address by address, on the
 * libraries of this machine.
 */

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "obj/cfi.h"
#include "obj/objfile.h"
#include "../unit.h"

enum { ADDRESSES = 20000 };

/* What libdw says of the CFA: register and offset; reg -1 for expressions. */
struct libdw_cfa {
	int64_t reg, offset;
};

static struct libdw_cfa libdw_cfa(Dwarf_Frame *frame)
{
	Dwarf_Op *ops;
	size_t count;

	assert_int_equal(dwarf_frame_cfa(frame, &ops, &count), 0);
	if (count == 1 && ops[0].atom == DW_OP_bregx)
		return (struct libdw_cfa){(int64_t)ops[0].number, (int64_t)ops[0].number2};
	return (struct libdw_cfa){-1, 0};
}

/* CFA-relative offset where libdw says that a register is saved; 0 unchanged, 1 anything else. */
static int64_t libdw_saved(Dwarf_Frame *frame, int reg)
{
	Dwarf_Op memory[3], *ops;
	size_t count;

	assert_int_equal(dwarf_frame_register(frame, reg, memory, &ops, &count), 0);
	if (count == 0)
		return ops == memory ? 1 : 0;
	if (count == 2 && ops[0].atom == DW_OP_call_frame_cfa && ops[1].atom == DW_OP_plus_uconst)
		return (int64_t)ops[1].number;
	return 1;
}

/* elfutils 0.188 counts rbx among the registers that a call destroys: 1 where nothing is said of
 * it. */
static bool bx_agrees(Dwarf_Frame *frame, const struct cfi_rule *rule)
{
	int64_t saved = libdw_saved(frame, CFI_REGISTER_BX);

	return saved == rule->bx_offset || (saved == 1 && rule->bx_offset == 0);
}

static void compare_simple(Dwarf_Frame *frame, const struct cfi_rule *rule, uint64_t obj_addr)
{
	struct libdw_cfa cfa = libdw_cfa(frame);
	int64_t reg = rule->kind == CFI_SP ? CFI_REGISTER_SP : CFI_REGISTER_BP;
	bool good = cfa.reg == reg && cfa.offset == rule->cfa_offset &&
		    libdw_saved(frame, CFI_REGISTER_BP) == rule->bp_offset &&
		    bx_agrees(frame, rule) && libdw_saved(frame, CFI_REGISTER_RA) == -8;

	if (!good)
		fail_msg("at %lx: kind %d cfa %d bp %d; libdw reg %ld cfa %ld bp %ld ra %ld",
			(unsigned long)obj_addr, (int)rule->kind, rule->cfa_offset, rule->bp_offset,
			(long)cfa.reg, (long)cfa.offset, (long)libdw_saved(frame, CFI_REGISTER_BP),
			(long)libdw_saved(frame, CFI_REGISTER_RA));
}

static void compare_slow(Dwarf_Frame *frame, struct cfi_table *table, const struct cfi_rule *rule)
{
	const struct cfi_slow_rule *slow = cfi_table_slow(table, rule->slow);
	struct libdw_cfa cfa = libdw_cfa(frame);

	assert_int_equal(slow->cfa_is_expression, cfa.reg < 0);
	if (slow->cfa_is_expression)
		return;
	assert_int_equal(slow->cfa_register, cfa.reg);
	assert_int_equal(slow->cfa_value, cfa.offset);
}

static void compare_at(Dwarf_CFI *cfi, struct cfi_table *table, uint64_t obj_addr)
{
	const struct cfi_rule *rule = cfi_table_find(table, obj_addr);
	Dwarf_Frame *frame;

	if (dwarf_cfi_addrframe(cfi, obj_addr, &frame) != 0) {
		/* Code that sections do not cover is known to us, not to libdw. */
		assert_true(rule->kind == CFI_NONE || rule->kind == CFI_END ||
			    rule->kind == CFI_CODE_SP || rule->kind == CFI_CODE_BP ||
			    rule->kind == CFI_SLOW ||
			    (rule->kind == CFI_SP && rule->cfa_offset <= 16));
		return;
	}
	switch (rule->kind) {
	case CFI_SP:
	case CFI_BP:
		compare_simple(frame, rule, obj_addr);
		break;
	case CFI_PLT:
		assert_int_equal(libdw_cfa(frame).reg, -1);
		break;
	case CFI_SIGNAL: {
		bool is_signal;
		dwarf_frame_info(frame, NULL, NULL, &is_signal);
		assert_true(is_signal);
		break;
	}
	case CFI_END:
		assert_int_equal(libdw_saved(frame, CFI_REGISTER_RA), 1);
		break;
	case CFI_SLOW:
		compare_slow(frame, table, rule);
		break;
	case CFI_NONE:
	case CFI_GO:
	case CFI_CODE_SP:
	case CFI_CODE_BP:
	case CFI_CODE_SAVED:
	case CFI_CODE_REGISTER:
		fail_msg("no rule at %lx", (unsigned long)obj_addr);
	}
	free(frame);
}

static void compare_segment(
	Dwarf_CFI *cfi, struct cfi_table *table, const struct objfile_segment *segment)
{
	uint64_t random = 1;

	for (int i = 0; i < ADDRESSES; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		compare_at(cfi, table, segment->obj_addr + (random >> 20) % segment->file_size);
	}
}

static void compare(const char *path)
{
	struct objfile *file;

	if (access(path, R_OK) != 0)
		skip();
	struct error *err = objfile_open(path, &file);
	assert_null(err);
	struct cfi_table *table = objfile_open_cfi(file);
	assert_non_null(table);
	elf_version(EV_CURRENT);
	int fd = open(path, O_RDONLY);
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	Dwarf_CFI *cfi = dwarf_getcfi_elf(elf);
	assert_non_null(cfi);
	for (size_t i = 0; i < objfile_segment_count(file); i++) {
		struct objfile_segment segment = objfile_segment(file, i);
		if (segment.executable && segment.file_size)
			compare_segment(cfi, table, &segment);
	}
	assert_int_equal(cfi_table_bad_entries(table), 0);
	dwarf_cfi_end(cfi);
	elf_end(elf);
	close(fd);
	cfi_table_destroy(table);
	objfile_close(file);
}

TEST(test_own)
{
	compare("/proc/self/exe");
}

TEST(test_libc)
{
	compare("/lib/x86_64-linux-gnu/libc.so.6");
}

TEST(test_loader)
{
	compare("/lib64/ld-linux-x86-64.so.2");
}

TEST(test_libstdcxx)
{
	compare("/usr/lib/x86_64-linux-gnu/libstdc++.so.6");
}

TEST(test_compiler)
{
	compare("/usr/lib/gcc/x86_64-linux-gnu/12/cc1");
}

/* Made by clang, linked by gold. */
TEST(test_llvm)
{
	compare("/usr/lib/llvm-14/lib/libLLVM-14.so.1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own),
		cmocka_unit_test(test_libc),
		cmocka_unit_test(test_loader),
		cmocka_unit_test(test_libstdcxx),
		cmocka_unit_test(test_compiler),
		cmocka_unit_test(test_llvm),
	};

	return cmocka_run_group_tests_name("cfi_libdw", tests, NULL, NULL);
}
