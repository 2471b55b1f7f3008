/*
 * Ways out of code without rules.
 */

#include <string.h>

#include "../fake_stack.h"
#include "../unit.h"
#include "base/compiler.h"
#include "unwind/heuristics/guess.h"

/* Code of the object: calls end at these places only. */
static uint8_t code[OBJECT_SIZE];

static bool read_code(struct unwind_memory *memory, uint64_t va, uint8_t *bytes, size_t size)
{
	(void)memory;
	if (va < OBJECT_VA || va - OBJECT_VA > sizeof(code) - size)
		return false;
	memcpy(bytes, code + (va - OBJECT_VA), size);
	return true;
}

static void put_call(uint64_t end)
{
	code[end - 5] = 0xe8;
}

static void init(struct fake_stack *s)
{
	memset(code, 0x90, sizeof(code));
	fake_stack_init(s, STACK_WORDS);
	s->memory.read_code = read_code;
}

TEST(test_calls)
{
	static const struct {
		uint8_t bytes[8];
		bool is_call;
	} rows[] = {
		{{0, 0, 0, 0xe8, 1, 2, 3, 4}, true},
		{{0, 0, 0, 0, 0, 0, 0xff, 0xd0}, true},
		{{0, 0, 0, 0, 0, 0x41, 0xff, 0xd3}, true},
		{{0, 0, 0, 0, 0, 0, 0xff, 0x10}, true},
		{{0, 0, 0, 0, 0, 0xff, 0x50, 8}, true},
		{{0, 0, 0, 0, 0, 0xff, 0x14, 0xc0}, true},
		{{0, 0, 0, 0, 0xff, 0x54, 0x24, 8}, true},
		{{0, 0, 0xff, 0x15, 1, 2, 3, 4}, true},
		{{0, 0, 0xff, 0x90, 1, 2, 3, 4}, true},
		{{0, 0xff, 0x94, 0xc0, 1, 2, 3, 4}, true},
		{{0, 0xff, 0x14, 0xc5, 1, 2, 3, 4}, true},
		{{0, 0, 0, 0, 0, 0, 0xff, 0xe0}, false}, /* jmp *%rax */
		{{0, 0, 0, 0, 0, 0, 0xff, 0xf0}, false}, /* push %rax */
		{{0, 0, 0, 0, 0, 0, 0xff, 0x50}, false}, /* its displacement is missing */
		{{0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xc3}, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(arch_x86_64.is_call(rows[i].bytes), rows[i].is_call);
}

TEST(test_layouts)
{
	struct fake_stack s;

	init(&s);
	put_call(FN_END + 6);
	/* At its start: the return address is at sp, bp is the caller's. */
	s.words[0] = code_va(FN_END + 6);
	fake_stack_set(&s, code_va(FN_BARE), word_va(0), word_va(30));
	fake_stack_walk(&s, NULL);
	assert_int_equal(s.stack.end, UNWIND_ROOT);
	assert_int_equal(s.stack.frames[1].sp, word_va(1));
	assert_int_equal(s.stack.frames[1].bp, word_va(30));
	/* bp has been saved. */
	s.words[0] = word_va(30);
	s.words[1] = code_va(FN_END + 6);
	fake_stack_walk(&s, NULL);
	assert_int_equal(s.stack.end, UNWIND_ROOT);
	assert_int_equal(s.stack.frames[1].sp, word_va(2));
	/* A frame pointer, and code addresses below it that follow no call. */
	s.words[0] = s.words[1] = code_va(FN_END + 3);
	s.words[30] = word_va(40);
	s.words[31] = code_va(FN_END + 6);
	fake_stack_walk(&s, NULL);
	assert_int_equal(s.stack.end, UNWIND_ROOT);
	assert_int_equal(s.stack.frames[1].sp, word_va(32));
	assert_int_equal(s.stack.frames[1].bp, word_va(40));
	assert_int_equal(unwind_walker_counts(s.walker).heuristic_steps, 3);
	fake_stack_deinit(&s);
}

/* Callers without rules: only by frame pointer, and bp 0 is the end. */
TEST(test_callers)
{
	struct fake_stack s;

	init(&s);
	put_call(FN_BARE + 6);
	s.words[1] = code_va(FN_BARE + 6);
	s.words[2] = code_va(FN_BARE + 6);
	s.words[30] = 0;
	s.words[31] = code_va(FN_BARE + 6);
	fake_stack_set(&s, code_va(FN_SP16), word_va(0), word_va(30));
	fake_stack_walk(&s, NULL);
	assert_int_equal(s.stack.end, UNWIND_ROOT);
	assert_int_equal(s.stack.count, 3);
	assert_int_equal(s.stack.frames[2].sp, word_va(32));
	/* In the innermost frame bp 0 means nothing. */
	s.words[0] = s.words[1] = 0;
	fake_stack_set(&s, code_va(FN_BARE), word_va(0), 0);
	fake_stack_walk(&s, NULL);
	assert_int_equal(s.stack.end, UNWIND_NO_RULE);
	fake_stack_deinit(&s);
}

TEST(test_bad_frame_pointers)
{
	struct fake_stack s;

	init(&s);
	put_call(FN_END + 6);
	s.words[9] = code_va(FN_END + 6);
	const uint64_t bps[] = {word_va(8) + 1, word_va(STACK_WORDS), UINT64_MAX, 8, 0};
	for (size_t i = 0; i < ARRAY_SIZE(bps); i++) {
		fake_stack_set(&s, code_va(FN_BARE), word_va(0), bps[i]);
		fake_stack_walk(&s, NULL);
		assert_int_equal(s.stack.end, UNWIND_NO_RULE);
		assert_int_equal(s.stack.count, 1);
	}
	/* Good, but inside of sp. */
	fake_stack_set(&s, code_va(FN_BARE), word_va(20), word_va(8));
	fake_stack_walk(&s, NULL);
	assert_int_equal(s.stack.end, UNWIND_NO_RULE);
	fake_stack_deinit(&s);
}

/* A call to nowhere: pc is in no mapping, the return address is at sp. */
TEST(test_pc_nowhere)
{
	struct fake_stack s;

	init(&s);
	put_call(FN_END + 6);
	s.words[0] = code_va(FN_END + 6);
	fake_stack_set(&s, 0, word_va(0), 0);
	fake_stack_walk(&s, NULL);
	assert_int_equal(s.stack.end, UNWIND_ROOT);
	assert_int_equal(s.stack.count, 2);
	assert_int_equal(s.stack.frames[0].object, UINT32_MAX);
	fake_stack_deinit(&s);
}

/* musl's signal trampoline has no rules, and follows other code. */
TEST(test_signal_return)
{
	static const uint8_t trampoline[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
	struct fake_stack s;

	init(&s);
	memcpy(code + FN_END + FN_SIZE, trampoline, sizeof(trampoline));
	s.words[1] = code_va(FN_END + FN_SIZE);
	s.words[2 + 20] = word_va(100);
	s.words[2 + 21] = code_va(FN_SP16);
	s.words[101] = code_va(FN_END + 1);
	fake_stack_set(&s, code_va(FN_SP16), word_va(0), 0);
	fake_stack_walk(&s, NULL);
	assert_int_equal(s.stack.end, UNWIND_ROOT);
	assert_int_equal(s.stack.count, 4);
	assert_int_equal(s.stack.frames[1].obj_addr, FN_END + FN_SIZE);
	assert_int_equal(s.stack.frames[2].obj_addr, FN_SP16);
	fake_stack_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_layouts),
		cmocka_unit_test(test_callers),
		cmocka_unit_test(test_bad_frame_pointers),
		cmocka_unit_test(test_pc_nowhere),
		cmocka_unit_test(test_signal_return),
	};

	return cmocka_run_group_tests_name("unwind_guess", tests, NULL, NULL);
}
