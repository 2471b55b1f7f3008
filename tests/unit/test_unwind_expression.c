/*
 * DWARF expressions: every operation, and bounds.
 */

#include <dwarf.h>
#include <string.h>

#include "base/compiler.h"
#include "unwind/expression.h"
#include "../unit.h"

struct row {
	uint8_t bytes[24];
	size_t size;
	enum expression_result result;
	uint64_t value;
};

#define GOOD(v, ...)                                                                               \
	{                                                                                          \
		{__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}), EXPRESSION_GOOD,            \
			(uint64_t)(v)                                                              \
	}
#define BAD(...)                                                                                   \
	{                                                                                          \
		{__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}), EXPRESSION_BAD, 0           \
	}

/* The CFA, 1000, is on the stack; rsp is 0x100, with the words 5, 6, 7, … there; rax is not known.
 */
static const struct row rows[] = {
	GOOD(1000, DW_OP_nop),
	GOOD(31, DW_OP_lit31),
	GOOD(0, DW_OP_lit0),
	GOOD(200, DW_OP_const1u, 200),
	GOOD(-56, DW_OP_const1s, 200),
	GOOD(0xfffe, DW_OP_const2u, 0xfe, 0xff),
	GOOD(-2, DW_OP_const2s, 0xfe, 0xff),
	GOOD(0xfffffffe, DW_OP_const4u, 0xfe, 0xff, 0xff, 0xff),
	GOOD(-2, DW_OP_const4s, 0xfe, 0xff, 0xff, 0xff),
	GOOD(-2, DW_OP_const8u, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff),
	GOOD(-2, DW_OP_const8s, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff),
	GOOD(300, DW_OP_constu, 0xac, 0x02),
	GOOD(-2, DW_OP_consts, 0x7e),
	GOOD(0x108, DW_OP_breg7, 8),
	GOOD(0xf8, DW_OP_bregx, 7, 0x78),
	GOOD(6, DW_OP_breg7, 8, DW_OP_deref),
	GOOD(0xff, DW_OP_breg7, 0x80, 1, DW_OP_deref_size, 1),
	GOOD(0xffff, DW_OP_breg7, 0x80, 1, DW_OP_deref_size, 2),
	GOOD(1000, DW_OP_dup, DW_OP_drop),
	GOOD(1000, DW_OP_lit1, DW_OP_over),
	GOOD(1000, DW_OP_lit1, DW_OP_lit2, DW_OP_pick, 2),
	GOOD(1000, DW_OP_lit1, DW_OP_swap),
	/* 1000 1 2 → 2 1000 1 */
	GOOD(1, DW_OP_lit1, DW_OP_lit2, DW_OP_rot),
	GOOD(1000, DW_OP_lit1, DW_OP_lit2, DW_OP_rot, DW_OP_drop),
	GOOD(2, DW_OP_lit1, DW_OP_lit2, DW_OP_rot, DW_OP_drop, DW_OP_drop),
	GOOD(5, DW_OP_const1s, 0xfb, DW_OP_abs),
	GOOD(-5, DW_OP_lit5, DW_OP_neg),
	GOOD(-6, DW_OP_lit5, DW_OP_not),
	GOOD(1128, DW_OP_plus_uconst, 0x80, 0x01),
	GOOD(4, DW_OP_lit6, DW_OP_lit12, DW_OP_and),
	GOOD(14, DW_OP_lit6, DW_OP_lit12, DW_OP_or),
	GOOD(10, DW_OP_lit6, DW_OP_lit12, DW_OP_xor),
	GOOD(-2, DW_OP_const1s, 0xf9, DW_OP_lit3, DW_OP_div),
	GOOD(1, DW_OP_lit7, DW_OP_lit3, DW_OP_mod),
	GOOD(21, DW_OP_lit7, DW_OP_lit3, DW_OP_mul),
	GOOD(10, DW_OP_lit7, DW_OP_lit3, DW_OP_plus),
	GOOD(4, DW_OP_lit7, DW_OP_lit3, DW_OP_minus),
	GOOD(56, DW_OP_lit7, DW_OP_lit3, DW_OP_shl),
	GOOD(0, DW_OP_lit7, DW_OP_const1u, 64, DW_OP_shl),
	GOOD(3, DW_OP_lit7, DW_OP_lit1, DW_OP_shr),
	GOOD(0, DW_OP_lit7, DW_OP_const1u, 64, DW_OP_shr),
	GOOD(-4, DW_OP_const1s, 0xf9, DW_OP_lit1, DW_OP_shra),
	GOOD(-1, DW_OP_const1s, 0xf9, DW_OP_const1u, 200, DW_OP_shra),
	GOOD(INT64_MIN, DW_OP_lit1, DW_OP_const1u, 63, DW_OP_shl, DW_OP_lit0, DW_OP_not, DW_OP_div),
	GOOD(1, DW_OP_lit3, DW_OP_lit3, DW_OP_eq),
	GOOD(0, DW_OP_lit3, DW_OP_lit3, DW_OP_ne),
	GOOD(1, DW_OP_const1s, 0xff, DW_OP_lit3, DW_OP_lt),
	GOOD(1, DW_OP_lit3, DW_OP_lit3, DW_OP_le),
	GOOD(0, DW_OP_lit3, DW_OP_lit3, DW_OP_gt),
	GOOD(1, DW_OP_lit3, DW_OP_lit3, DW_OP_ge),
	GOOD(1000, DW_OP_skip, 1, 0, DW_OP_lit9),
	GOOD(1000, DW_OP_lit1, DW_OP_bra, 1, 0, DW_OP_lit9),
	GOOD(9, DW_OP_lit0, DW_OP_bra, 1, 0, DW_OP_lit9),
	/* Counts 5 down to 0. */
	GOOD(0, DW_OP_lit5, DW_OP_lit1, DW_OP_minus, DW_OP_dup, DW_OP_bra, 0xfa, 0xff),
	BAD(DW_OP_drop),
	BAD(DW_OP_drop, DW_OP_drop),
	BAD(DW_OP_plus),
	BAD(DW_OP_pick, 1),
	BAD(DW_OP_rot),
	BAD(DW_OP_swap),
	BAD(DW_OP_lit1, DW_OP_lit0, DW_OP_div),
	BAD(DW_OP_lit1, DW_OP_lit0, DW_OP_mod),
	BAD(DW_OP_breg0, 0),
	BAD(DW_OP_bregx, 60, 0),
	BAD(DW_OP_breg7, 0, DW_OP_deref_size, 9),
	BAD(DW_OP_breg7, 0, DW_OP_deref_size, 0),
	BAD(DW_OP_addr, 0, 0, 0, 0, 0, 0, 0, 0),
	BAD(DW_OP_reg0),
	BAD(DW_OP_call_frame_cfa),
	BAD(DW_OP_const4u, 1),
	BAD(DW_OP_skip, 2, 0),
	BAD(DW_OP_skip, 0xfc, 0xff),
	BAD(DW_OP_skip, 0xfd, 0xff),
	BAD(DW_OP_dup, DW_OP_skip, 0xfc, 0xff),
	{{DW_OP_lit0, DW_OP_deref}, 2, EXPRESSION_NO_MEMORY, 0},
};

TEST(test_rows)
{
	static const uint64_t words[20] = {5, 6, 7, [16] = UINT64_MAX};
	struct unwind_memory memory = {
		.bytes = (const uint8_t *)words, .low_va = 0x100, .high_va = 0x100 + sizeof(words)};
	struct unwind_regs regs = {.known = 1u << UNWIND_REG_SP};
	const uint64_t cfa = 1000;

	regs.value[UNWIND_REG_SP] = 0x100;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct str e = {(const char *)rows[i].bytes, rows[i].size};
		uint64_t value = 0;
		enum expression_result result =
			expression_evaluate(&arch_x86_64, e, &regs, &memory, &cfa, &value);
		if (result != rows[i].result || value != rows[i].value)
			fail_msg("row %zu: result %d value %lx", i, (int)result,
				(unsigned long)value);
	}
}

TEST(test_empty)
{
	struct unwind_memory memory = {0};
	struct unwind_regs regs = {0};
	uint64_t value;

	assert_int_equal(expression_evaluate(&arch_x86_64, STR(""), &regs, &memory, NULL, &value),
		EXPRESSION_BAD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests_name("unwind_expression", tests, NULL, NULL);
}
