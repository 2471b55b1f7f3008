/*
 * How far sp is below bp, and the way out of a function, read off functions written out here.
 */

#include <string.h>

#include "obj/code_depth.h"
#include "obj/code_exit.h"
#include "arch/arch.h"
#include "arch/x86_code.h"
#include "../unit.h"

enum { CODE_ADDR = 0x401000 };

#define PIECE(bytes)                                                                               \
	&(struct code_piece)                                                                       \
	{                                                                                          \
		CODE_ADDR, (const uint8_t *)(bytes), sizeof(bytes) - 1, &arch_x86_64               \
	}

static void expect_depth(const struct code_piece *code, size_t at, bool is_exact, uint64_t bytes)
{
	struct code_depth depth = code_depth_at(code, at);

	assert_true(depth.is_known);
	assert_int_equal(depth.is_exact, is_exact);
	assert_int_equal(depth.bytes, bytes);
}

/* push %rbp; mov %rsp,%rbp; push %rbx; sub $0x18,%rsp; call; nop; leave; ret */
TEST(test_depth_of_a_frame)
{
	static const char code[] =
		"\x55\x48\x89\xe5\x53\x48\x83\xec\x18\xe8\x00\x00\x00\x00\x90\xc9\xc3";

	assert_false(code_depth_at(PIECE(code), 0).is_known);
	assert_false(code_depth_at(PIECE(code), 1).is_known);
	expect_depth(PIECE(code), 4, true, 0);
	expect_depth(PIECE(code), 5, true, 8);
	for (size_t at = 9; at < 16; at++)
		expect_depth(PIECE(code), at, true, 32);
	assert_false(code_depth_at(PIECE(code), 16).is_known);
}

/* push %rbp; mov %rsp,%rbp; push %rbx; test; je +3; sub %rax,%rsp; nop; lea -8(%rbp),%rsp; pop %rbx
 */
TEST(test_depth_behind_alloca)
{
	static const char code[] =
		"\x55\x48\x89\xe5\x53\x85\xc0\x74\x03\x48\x29\xc4\x90\x48\x8d\x65\xf8\x5b\x5d\xc3";

	expect_depth(PIECE(code), 9, true, 8);
	expect_depth(PIECE(code), 12, false, 8);
	expect_depth(PIECE(code), 17, true, 8);
	expect_depth(PIECE(code), 18, true, 0);
	assert_false(code_depth_at(PIECE(code), 19).is_known);
}

/* push %rbp; mov %rsp,%rbp; test; je; push %rax; nop: two paths, and one has pushed more. */
TEST(test_depth_of_two_paths)
{
	static const char code[] = "\x55\x48\x89\xe5\x85\xc0\x74\x01\x50\x90\xc9\xc3";

	expect_depth(PIECE(code), 9, false, 0);
}

/* A loop that pops ends all the same; one that pushes has the depth of its first turn. */
TEST(test_depth_of_loops)
{
	static const char pops[] = "\x55\x48\x89\xe5\x48\x83\xec\x40\x58\xeb\xfd";
	static const char pushes[] = "\x55\x48\x89\xe5\x50\xeb\xfd\x90";

	assert_false(code_depth_at(PIECE(pops), 9).is_exact);
	expect_depth(PIECE(pushes), 4, false, 0);
	assert_false(code_depth_at(PIECE(pushes), 7).is_known); /* reached by nothing */
}

static bool find_exit(const struct code_piece *code, size_t at, struct cfi_rule *rule)
{
	struct code_exit exit = code_exit_begin();

	return code_exit_rule(code, at, &exit, rule);
}

static void expect_exit(
	const struct code_piece *code, enum cfi_kind kind, int32_t cfa_offset, int32_t bp_offset)
{
	struct cfi_rule rule;

	assert_true(find_exit(code, 0, &rule));
	assert_int_equal(rule.kind, kind);
	assert_int_equal(rule.cfa_offset, cfa_offset);
	assert_int_equal(rule.bp_offset, bp_offset);
}

/* Trampolines as CPython has them: call *%rcx between. */
TEST(test_exits)
{
	expect_exit(PIECE("\xc3"), CFI_CODE_SP, 8, 0);
	expect_exit(PIECE("\x48\x83\xc4\x08\xc3"), CFI_CODE_SP, 16, 0);
	expect_exit(PIECE("\x5d\xc3"), CFI_CODE_SP, 16, -16);
	expect_exit(PIECE("\xc9\xc3"), CFI_CODE_BP, 16, -16);
	expect_exit(PIECE("\x48\x8d\x65\xf0\x5b\x5e\x5d\xc2\x10\x00"), CFI_CODE_BP, 16, -16);
	/* leave; pop %rcx; lea (%rsp,%rdx,8),%rsp; push %rcx; ret */
	expect_exit(PIECE("\xc9\x59\x48\x8d\x24\xd4\x51\xc3"), CFI_CODE_BP, 16, -16);
	expect_exit(PIECE("\xc9\xff\xe0"), CFI_CODE_BP, 16, -16); /* leave; jmp *%rax */
	/* In a prologue: push %rbp; mov %rsp,%rbp; sub; call; leave; ret. */
	expect_exit(PIECE("\x55\x48\x89\xe5\x48\x83\xec\x10\xff\xd1\xc9\xc3"), CFI_CODE_SP, 8, 0);
	expect_exit(PIECE("\x48\x89\xe5\x48\x83\xec\x10\xff\xd1\xc9\xc3"), CFI_CODE_SP, 16, -16);
}

/* As V8's handlers end: mov (%rbp),%rbp; add; jmp *%rcx, or ret. */
TEST(test_exit_that_loads_bp)
{
	expect_exit(PIECE("\x48\x8b\x6d\x00\x48\x83\xc4\x28\xff\xe1"), CFI_CODE_BP, 16, -16);
	expect_exit(PIECE("\x48\x8b\x6d\x00\x48\x83\xc4\x28\xc3"), CFI_CODE_BP, 16, -16);
	/* mov %rdi,%rbp: leave is of no use then, pop is. */
	struct cfi_rule rule;

	assert_false(find_exit(PIECE("\x48\x89\xfd\xc9\xc3"), 0, &rule));
	expect_exit(PIECE("\x48\x89\xfd\x5d\xc3"), CFI_CODE_SP, 16, -16);
}

/* Of an aligned frame of assembly: add $8,%rsp; mov 0x40(%rsp),%rsp; pop %rbp; pop %rbx; ret. */
TEST(test_exit_by_saved_sp)
{
	static const char code[] = "\x48\x83\xc4\x08\x48\x8b\x64\x24\x40\x5d\x5b\xc3";
	struct cfi_rule rule;

	assert_true(find_exit(PIECE(code), 0, &rule));
	assert_int_equal(rule.kind, CFI_CODE_SAVED);
	assert_int_equal(rule.origin, 0x48);
	assert_int_equal(rule.cfa_offset, 24);
	assert_int_equal(rule.bp_offset, -24);
	assert_int_equal(rule.bx_offset, -16);
	/* The same without memory: mov %rcx,%rsp; ret. */
	assert_true(find_exit(PIECE("\x48\x89\xcc\xc3"), 0, &rule));
	assert_int_equal(rule.kind, CFI_CODE_REGISTER);
	assert_int_equal(rule.origin, 2);
	assert_int_equal(rule.cfa_offset, 8);
	/* push; mov (%rsp),%rsp: what was pushed on the way is no sp of before. */
	assert_false(find_exit(PIECE("\x50\x48\x8b\x24\x24\xc3"), 0, &rule));
}

TEST(test_exits_by_branches)
{
	struct cfi_rule rule;

	/* je to what returns; ud2. */
	expect_exit(PIECE("\x74\x02\x0f\x0b\x58\xc3"), CFI_CODE_SP, 16, 0);
	/* Behind a call that does not return there is fill. */
	expect_exit(PIECE("\x74\x07\xff\xd0\x0f\x1f\x40\x00\xc3\x58\xc3"), CFI_CODE_SP, 16, 0);
	/* leave; ret; and a loop that is left by a jump back: je to there; jmp to itself. */
	assert_true(find_exit(PIECE("\xc9\xc3\x74\xfc\xeb\xfc"), 2, &rule));
	assert_int_equal(rule.kind, CFI_CODE_BP);
	/* A loop for ever, a jump elsewhere, sp out of other memory, no end. */
	assert_false(find_exit(PIECE("\xeb\xfe\xc3"), 0, &rule));
	assert_false(find_exit(PIECE("\xff\xe0\xc3"), 0, &rule));
	assert_false(find_exit(PIECE("\x48\x8b\x20\xc3"), 0, &rule));
	assert_false(find_exit(PIECE("\x90\x90"), 0, &rule));
}

/* pop %rax; jmp to other code, which has leave; ret. */
TEST(test_exit_elsewhere)
{
	struct code_exit exit = code_exit_begin();
	struct cfi_rule rule;

	assert_false(code_exit_rule(PIECE("\x58\xe9\x00\x10\x00\x00"), 0, &exit, &rule));
	assert_true(exit.leads_on);
	assert_int_equal(exit.next_addr, CODE_ADDR + 6 + 0x1000);
	struct code_exit in_frame = exit;

	assert_true(code_exit_rule(PIECE("\x58\xc3"), 0, &exit, &rule));
	assert_int_equal(rule.kind, CFI_CODE_SP);
	assert_int_equal(rule.cfa_offset, 24);
	assert_true(code_exit_rule(PIECE("\xc9\xc3"), 0, &in_frame, &rule));
	assert_int_equal(rule.kind, CFI_CODE_BP);
	assert_int_equal(rule.cfa_offset, 16);
}

static bool may_write(const char *bytes, size_t size, uint8_t reg)
{
	return x86_may_write((const uint8_t *)bytes, size, reg);
}

TEST(test_may_write)
{
	enum { AX, CX, DX, BX, DI = 7, R13 = 13 };

	assert_true(may_write("\x89\xc2", 2, DX)); /* mov %eax,%edx */
	assert_false(may_write("\x89\xc2", 2, BX));
	assert_false(may_write("\x89\xdf", 2, AX));
	assert_true(may_write("\x41\x89\xc5", 3, R13));
	assert_true(may_write("\x48\x8b\x44\x24\x18", 5, AX)); /* mov 0x18(%rsp),%rax */
	assert_true(may_write("\xb8\x01\x00\x00\x00", 5, AX));
	assert_false(may_write("\xb8\x01\x00\x00\x00", 5, CX));
	assert_true(may_write("\xf7\xf1", 2, AX)); /* div %ecx */
	assert_true(may_write("\x0f\xa2", 2, BX)); /* cpuid */
	assert_true(may_write("\x5f", 1, DI));	   /* pop %rdi */
	assert_false(may_write("\x5f", 1, AX));
	assert_false(may_write("\x90", 1, AX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_depth_of_a_frame),
		cmocka_unit_test(test_depth_behind_alloca),
		cmocka_unit_test(test_depth_of_two_paths),
		cmocka_unit_test(test_depth_of_loops),
		cmocka_unit_test(test_exits),
		cmocka_unit_test(test_exit_that_loads_bp),
		cmocka_unit_test(test_exit_by_saved_sp),
		cmocka_unit_test(test_exits_by_branches),
		cmocka_unit_test(test_exit_elsewhere),
		cmocka_unit_test(test_may_write),
	};

	return cmocka_run_group_tests_name("code_depth", tests, NULL, NULL);
}
