/*
 * Code without rules that a function jumped to, in that function's frame.
 */

#include <string.h>

#include "../fake_stack.h"
#include "../unit.h"
#include "base/compiler.h"

/* FN_END calls FN_SP16, which jumps to bare code: the word has that call's return address. */
enum { IN_END = FN_END + 0x40, IN_BARE = FN_BARE + 0x40, RETURN = 1 };

/* An object that is not open: all of it is calls. */
#define PENDING_VA ((uint64_t)0x600000000000)

static uint8_t code[OBJECT_SIZE];

static bool read_code(struct unwind_memory *memory, uint64_t va, uint8_t *bytes, size_t size)
{
	(void)memory;
	if (va >= PENDING_VA) {
		memset(bytes, 0xe8, size);
		return true;
	}
	if (va < OBJECT_VA || va - OBJECT_VA > sizeof(code) - size)
		return false;
	memcpy(bytes, code + (va - OBJECT_VA), size);
	return true;
}

static void put_call(uint64_t end, uint64_t target)
{
	int32_t distance = (int32_t)(target - end);

	code[end - 5] = 0xe8;
	memcpy(code + end - 4, &distance, sizeof(distance));
}

static void init(struct fake_stack *s)
{
	memset(code, 0xcc, sizeof(code)); /* no rule can be derived from it */
	fake_stack_init(s, STACK_WORDS);
	s->memory.read_code = read_code;
	s->words[RETURN] = code_va(IN_END);
	put_call(IN_END, FN_SP16);
	fake_stack_set(s, code_va(FN_BARE), word_va(0), 7);
}

static void expect(struct fake_stack *s, size_t count)
{
	fake_stack_walk(s, NULL);
	assert_int_equal(s->stack.end, count == 1 ? UNWIND_NO_RULE : UNWIND_ROOT);
	assert_int_equal(s->stack.count, count);
	assert_int_equal(s->stack.guessed, count == 1 ? 0 : 1);
}

TEST(test_found)
{
	struct fake_stack s;

	init(&s);
	expect(&s, 2);
	assert_int_equal(s.stack.frames[1].pc, code_va(IN_END));
	assert_int_equal(s.stack.frames[1].sp, word_va(RETURN + 1));
	/* Again, where it was found last, and then no longer. */
	expect(&s, 2);
	s.words[RETURN] = code_va(IN_END + 1);
	expect(&s, 1);
	fake_stack_deinit(&s);
}

/* The rules of the function that was entered must lead to the very place. */
TEST(test_elsewhere)
{
	struct fake_stack s;

	init(&s);
	s.words[RETURN + 1] = s.words[RETURN];
	s.words[RETURN] = 0;
	expect(&s, 1);
	/* Another function was entered, without rules or with others. */
	s.words[RETURN] = s.words[RETURN + 1];
	s.words[RETURN + 1] = 0;
	put_call(IN_END, FN_BARE);
	expect(&s, 1);
	put_call(IN_END, FN_SP16 + 4);
	expect(&s, 1);
	put_call(IN_END, FN_SAVES_RBX);
	expect(&s, 1);
	fake_stack_deinit(&s);
}

/* From the return address on, rules must lead to the root. */
TEST(test_no_way_out)
{
	struct fake_stack s;

	init(&s);
	s.words[RETURN] = code_va(IN_BARE);
	put_call(IN_BARE, FN_SP16);
	expect(&s, 1);
	fake_stack_deinit(&s);
}

/* An object further out is opened once a walk meets it, so the walk must get there. */
TEST(test_pending)
{
	struct fake_stack s;

	init(&s);
	unwind_space_add(&s.space, (struct unwind_mapping){.low_va = PENDING_VA,
					   .high_va = PENDING_VA + 0x1000,
					   .slide = PENDING_VA,
					   .object = 8 | UNWIND_PENDING});
	put_call(FN_SAVES_RBX + 0x20, FN_SP16);
	s.words[RETURN] = code_va(FN_SAVES_RBX + 0x20);
	s.words[RETURN + 3] = PENDING_VA + 0x20;
	fake_stack_walk(&s, NULL);
	assert_int_equal(s.stack.end, UNWIND_NO_RULE);
	assert_int_equal(s.stack.count, 3);
	assert_int_equal(s.stack.frames[2].pc, PENDING_VA + 0x20);
	fake_stack_deinit(&s);
}

/* The slots are those of a call that is over: its caller has entered another function since. */
TEST(test_stale)
{
	struct fake_stack s;

	init(&s);
	put_call(FN_SP16 + 0x20, FN_SP16);
	s.words[RETURN] = code_va(FN_SP16 + 0x20);
	s.words[RETURN + 2] = code_va(FN_SP16 + 0x20);
	s.words[RETURN + 4] = 0;
	expect(&s, 1);
	s.words[RETURN + 4] = code_va(IN_END);
	fake_stack_walk(&s, NULL);
	assert_int_equal(s.stack.end, UNWIND_ROOT);
	assert_int_equal(s.stack.count, 4);
	fake_stack_deinit(&s);
}

/* A frame that made a call may have aligned the stack for it. */
TEST(test_caller)
{
	struct fake_stack s;

	init(&s);
	put_call(IN_BARE, FN_SP16);
	s.words[1] = code_va(IN_BARE);
	/* One word is pushed, one belongs to the frame of the function that jumped. */
	s.words[4] = code_va(IN_END);
	fake_stack_set(&s, code_va(FN_SP16 + 8), word_va(0), 7);
	expect(&s, 3);
	assert_int_equal(s.stack.frames[2].sp, word_va(5));
	/* But not by much, and an interrupted frame has not. */
	s.words[9] = code_va(IN_END);
	s.words[4] = 0;
	fake_stack_walk(&s, NULL);
	assert_int_equal(s.stack.end, UNWIND_NO_RULE);
	fake_stack_deinit(&s);
	init(&s);
	s.words[RETURN] = 0;
	s.words[RETURN + 1] = code_va(IN_END);
	expect(&s, 1);
	fake_stack_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_elsewhere),
		cmocka_unit_test(test_no_way_out),
		cmocka_unit_test(test_pending),
		cmocka_unit_test(test_stale),
		cmocka_unit_test(test_caller),
	};

	return cmocka_run_group_tests_name("unwind_scan", tests, NULL, NULL);
}
