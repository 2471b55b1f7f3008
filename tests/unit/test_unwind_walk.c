/*
 * Walks over stacks made by hand: each kind of rule, each way to end, hostile stacks.
 */

#include <string.h>

#include "../fake_stack.h"
#include "../unit.h"
#include "base/compiler.h"

static void expect_frame(const struct fake_stack *s, size_t i, uint64_t obj_addr)
{
	assert_true(i < s->stack.count);
	assert_int_equal(s->stack.frames[i].obj_addr, obj_addr);
	assert_int_equal(s->stack.frames[i].va, code_va(obj_addr));
	assert_int_equal(s->stack.frames[i].object, 7);
}

TEST(test_simple_rules)
{
	struct fake_stack s;

	fake_stack_init(&s, STACK_WORDS);
	/* plt at offset 12 → sp16 → bp → end; word 20 is bp's frame. */
	s.words[1] = code_va(FN_SP16 + 5);
	s.words[3] = code_va(FN_BP + 9);
	s.words[20] = 0xbbbb;
	s.words[21] = code_va(FN_END + 1);
	fake_stack_set(&s, code_va(FN_PLT + 12), word_va(0), word_va(20));
	fake_stack_walk(&s, NULL);
	assert_int_equal(s.stack.end, UNWIND_ROOT);
	assert_int_equal(s.stack.count, 4);
	expect_frame(&s, 0, FN_PLT + 12);
	expect_frame(&s, 1, FN_SP16 + 4);
	expect_frame(&s, 2, FN_BP + 8);
	expect_frame(&s, 3, FN_END);
	assert_int_equal(s.stack.frames[3].bp, 0xbbbb);
	assert_int_equal(s.stack.frames[3].sp, word_va(22));
	fake_stack_deinit(&s);
}

/* The first byte of a function: a return address there belongs to the call before it. */
TEST(test_return_address_at_function_start)
{
	struct fake_stack s;

	fake_stack_init(&s, STACK_WORDS);
	s.words[1] = code_va(FN_SP16 + FN_SIZE); /* the call was the last of it */
	s.words[3] = 0;
	fake_stack_set(&s, code_va(FN_SP16), word_va(0), 0);
	fake_stack_walk(&s, NULL);
	assert_int_equal(s.stack.end, UNWIND_ROOT);
	assert_int_equal(s.stack.count, 2);
	expect_frame(&s, 1, FN_SP16 + FN_SIZE - 1);
	fake_stack_deinit(&s);
}

static bool read_nops(struct unwind_memory *memory, uint64_t va, uint8_t *bytes, size_t size)
{
	(void)memory;
	(void)va;
	memset(bytes, 0x90, size);
	return true;
}

static bool read_calls(struct unwind_memory *memory, uint64_t va, uint8_t *bytes, size_t size)
{
	/* call *%rax, again and again */
	(void)memory;
	(void)va;
	for (size_t i = 0; i < size; i++)
		bytes[i] = (size - i) % 2 ? 0xd0 : 0xff;
	return true;
}

/* Where a coroutine is to return to: nothing before it, and what is there is no call. */
TEST(test_begin_of_a_coroutine)
{
	struct fake_stack s;

	fake_stack_init(&s, STACK_WORDS);
	s.words[1] = code_va(FN_BP);
	s.words[2] = 0xbad;
	fake_stack_set(&s, code_va(FN_SP16), word_va(0), word_va(20));
	s.memory.read_code = read_nops;
	fake_stack_walk(&s, NULL);
	assert_int_equal(s.stack.end, UNWIND_ROOT);
	assert_int_equal(s.stack.count, 2);
	expect_frame(&s, 1, FN_BP);
	/* After a call it is the caller, an unknown one. */
	s.words[1] = code_va(FN_END);
	s.memory.read_code = read_calls;
	fake_stack_walk(&s, NULL);
	assert_int_equal(s.stack.end, UNWIND_NO_RULE);
	assert_int_equal(s.stack.count, 2);
	expect_frame(&s, 1, FN_END - 1);
	fake_stack_deinit(&s);
}

/* A ucontext at word `at`. */
static void put_ucontext(struct fake_stack *s, size_t at, uint64_t pc, uint64_t sp, uint64_t bp)
{
	s->words[at + 15] = bp;
	s->words[at + 20] = sp;
	s->words[at + 21] = pc;
}

TEST(test_signal_on_another_stack)
{
	struct fake_stack s;

	fake_stack_init(&s, STACK_WORDS);
	/*
	 * The handler runs above the stack that it interrupted: sp goes down.  glibc's rules begin
	 * one byte before the trampoline.
	 */
	s.words[1001] = code_va(FN_SIGNAL + 1);
	put_ucontext(&s, 1002, code_va(FN_SP16), word_va(10), 0);
	s.words[11] = code_va(FN_END + 1);
	fake_stack_set(&s, code_va(FN_SP16), word_va(1000), 0);
	fake_stack_walk(&s, NULL);
	assert_int_equal(s.stack.end, UNWIND_ROOT);
	assert_int_equal(s.stack.count, 4);
	/* The trampoline was not called, and the interrupted one did not call. */
	expect_frame(&s, 1, FN_SIGNAL + 1);
	expect_frame(&s, 2, FN_SP16);
	expect_frame(&s, 3, FN_END);
	fake_stack_deinit(&s);
}

/* Two signal frames that lead to each other. */
TEST(test_signal_cycle)
{
	struct fake_stack s;

	fake_stack_init(&s, STACK_WORDS);
	put_ucontext(&s, 100, code_va(FN_SIGNAL + 1), word_va(200), 0);
	put_ucontext(&s, 200, code_va(FN_SIGNAL + 1), word_va(100), 0);
	fake_stack_set(&s, code_va(FN_SIGNAL + 1), word_va(100), 0);
	fake_stack_walk(&s, NULL);
	assert_int_equal(s.stack.end, UNWIND_NO_PROGRESS);
	assert_true(s.stack.count < 200);
	/* One that leads to itself. */
	put_ucontext(&s, 100, code_va(FN_SIGNAL + 1), word_va(100), 0);
	fake_stack_walk(&s, NULL);
	assert_int_equal(s.stack.end, UNWIND_NO_PROGRESS);
	assert_true(s.stack.count < 200);
	fake_stack_deinit(&s);
}

TEST(test_rbx)
{
	struct fake_stack s;

	fake_stack_init(&s, STACK_WORDS);
	/* The inner frame has saved the rbx that the outer one hangs on. */
	s.words[1] = word_va(50);
	s.words[2] = code_va(FN_RBX + 1);
	s.words[51] = code_va(FN_END + 1);
	fake_stack_set(&s, code_va(FN_SAVES_RBX), word_va(0), 0);
	fake_stack_walk(&s, NULL);
	assert_int_equal(s.stack.end, UNWIND_ROOT);
	assert_int_equal(s.stack.count, 3);
	assert_int_equal(s.stack.frames[2].sp, word_va(52));
	/* Not known: give up rather than guess. */
	s.words[1] = code_va(FN_RBX + 1);
	fake_stack_set(&s, code_va(FN_SP16), word_va(0), 0);
	fake_stack_walk(&s, NULL);
	assert_int_equal(s.stack.end, UNWIND_NO_RULE);
	assert_int_equal(s.stack.count, 2);
	fake_stack_deinit(&s);
}

TEST(test_slow_rules)
{
	struct fake_stack s;

	fake_stack_init(&s, STACK_WORDS);
	s.words[9] = word_va(60);
	s.words[10] = 0xb0b0;
	s.words[59] = code_va(FN_END + 1);
	fake_stack_set(&s, code_va(FN_REALIGNED), word_va(0), word_va(10));
	fake_stack_walk(&s, NULL);
	assert_int_equal(s.stack.end, UNWIND_ROOT);
	assert_int_equal(s.stack.count, 2);
	assert_int_equal(s.stack.frames[1].sp, word_va(60));
	assert_int_equal(s.stack.frames[1].bp, 0xb0b0);
	/* A register that only the sampler can know. */
	fake_stack_set(&s, code_va(FN_R10), word_va(0), 0);
	fake_stack_walk(&s, NULL);
	assert_int_equal(s.stack.end, UNWIND_NO_RULE);
	s.regs.value[10] = word_va(60);
	s.regs.known |= 1u << 10;
	fake_stack_walk(&s, NULL);
	assert_int_equal(s.stack.end, UNWIND_ROOT);
	assert_int_equal(unwind_walker_counts(s.walker).slow_steps, 3);
	fake_stack_deinit(&s);
}

TEST(test_bad_expressions)
{
	static const uint64_t functions[] = {FN_BAD_EXPRESSION, FN_ENDLESS};
	struct fake_stack s;

	fake_stack_init(&s, STACK_WORDS);
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		fake_stack_set(&s, code_va(functions[i]), word_va(0), 0);
		fake_stack_walk(&s, NULL);
		assert_int_equal(s.stack.end, UNWIND_NO_RULE);
		assert_int_equal(s.stack.count, 1);
	}
	fake_stack_deinit(&s);
}

TEST(test_ends)
{
	struct fake_stack s;

	fake_stack_init(&s, STACK_WORDS);
	/* Stack memory ends. */
	fake_stack_set(&s, code_va(FN_SP16), word_va(STACK_WORDS - 1), 0);
	fake_stack_walk(&s, NULL);
	assert_int_equal(s.stack.end, UNWIND_NO_MEMORY);
	/* bp leads back, and to an odd place. */
	fake_stack_set(&s, code_va(FN_BP), word_va(10), word_va(2));
	fake_stack_walk(&s, NULL);
	assert_int_equal(s.stack.end, UNWIND_NO_PROGRESS);
	fake_stack_set(&s, code_va(FN_BP), word_va(10), word_va(20) + 3);
	fake_stack_walk(&s, NULL);
	assert_int_equal(s.stack.end, UNWIND_NO_PROGRESS);
	/* A return address in no mapping: the frame is recorded, and the walk ends. */
	s.words[1] = 0x1234;
	fake_stack_set(&s, code_va(FN_SP16), word_va(0), word_va(20));
	fake_stack_walk(&s, NULL);
	assert_int_equal(s.stack.end, UNWIND_NO_RULE);
	assert_int_equal(s.stack.count, 2);
	assert_int_equal(s.stack.frames[1].object, UINT32_MAX);
	/* Wild registers. */
	fake_stack_set(&s, UINT64_MAX, UINT64_MAX, UINT64_MAX);
	fake_stack_walk(&s, NULL);
	assert_int_equal(s.stack.end, UNWIND_NO_RULE);
	fake_stack_set(&s, code_va(FN_SP16), UINT64_MAX - 4, UINT64_MAX);
	fake_stack_walk(&s, NULL);
	assert_int_equal(s.stack.end, UNWIND_NO_PROGRESS);
	fake_stack_deinit(&s);
}

struct remote {
	const struct fake_stack *s;
	unsigned int asked;
};

static bool read_remote(struct unwind_memory *memory, uint64_t va, uint64_t *value)
{
	struct remote *remote = memory->context;

	remote->asked++;
	if (va < STACK_VA || va - STACK_VA > (remote->s->word_count - 1) * 8)
		return false;
	memcpy(value, (const uint8_t *)remote->s->words + (va - STACK_VA), sizeof(*value));
	return true;
}

TEST(test_memory_beyond_the_window)
{
	struct fake_stack s;

	fake_stack_init(&s, STACK_WORDS);
	struct remote remote = {.s = &s};
	for (size_t i = 0; i < 100; i++)
		s.words[2 * i + 1] = code_va(FN_SP16 + 1);
	s.words[201] = code_va(FN_END + 1);
	/* The window ends in the middle of a word. */
	s.memory.high_va = word_va(100) + 3;
	s.memory.read = read_remote;
	s.memory.context = &remote;
	fake_stack_set(&s, code_va(FN_SP16), word_va(0), 0);
	fake_stack_walk(&s, NULL);
	assert_int_equal(s.stack.end, UNWIND_ROOT);
	assert_int_equal(s.stack.count, 102);
	assert_int_equal(remote.asked, 51);
	fake_stack_deinit(&s);
}

TEST(test_depth)
{
	enum { DEPTH = 65536 };
	struct fake_stack s;

	fake_stack_init(&s, 2 * DEPTH + 2);
	for (size_t i = 0; i < DEPTH; i++)
		s.words[2 * i + 1] = code_va(FN_SP16 + 1);
	s.words[2 * DEPTH + 1] = code_va(FN_END + 1);
	fake_stack_set(&s, code_va(FN_SP16), word_va(0), 0);
	fake_stack_walk(&s, NULL);
	assert_int_equal(s.stack.end, UNWIND_ROOT);
	assert_int_equal(s.stack.count, DEPTH + 2);
	fake_stack_deinit(&s);
}

TEST(test_too_deep)
{
	size_t words = 2 * (UNWIND_DEPTH_MAX + 10);
	struct fake_stack s;

	fake_stack_init(&s, words);
	for (size_t i = 0; i < words; i++)
		s.words[i] = code_va(FN_SP16 + 1);
	fake_stack_set(&s, code_va(FN_SP16), word_va(0), 0);
	fake_stack_walk(&s, NULL);
	assert_int_equal(s.stack.end, UNWIND_TOO_DEEP);
	assert_int_equal(s.stack.count, UNWIND_DEPTH_MAX);
	fake_stack_deinit(&s);
}

/* The cache must not answer for another state of the space, or for another space. */
TEST(test_cache)
{
	struct fake_stack s;

	fake_stack_init(&s, STACK_WORDS);
	s.words[1] = code_va(FN_END + 1);
	fake_stack_set(&s, code_va(FN_SP16), word_va(0), 0);
	fake_stack_walk(&s, NULL);
	assert_int_equal(s.stack.end, UNWIND_ROOT);
	fake_stack_walk(&s, NULL);
	assert_int_equal(unwind_walker_counts(s.walker).cache_hits, 2);
	struct unwind_mapping m = s.space.mappings[0];
	unwind_space_remove(&s.space, m.low_va, m.high_va);
	fake_stack_walk(&s, NULL);
	assert_int_equal(s.stack.end, UNWIND_NO_RULE);
	m.object = 9;
	unwind_space_add(&s.space, m);
	fake_stack_walk(&s, NULL);
	assert_int_equal(s.stack.end, UNWIND_ROOT);
	assert_int_equal(s.stack.frames[0].object, 9);
	fake_stack_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_simple_rules),
		cmocka_unit_test(test_return_address_at_function_start),
		cmocka_unit_test(test_begin_of_a_coroutine),
		cmocka_unit_test(test_signal_on_another_stack),
		cmocka_unit_test(test_signal_cycle),
		cmocka_unit_test(test_rbx),
		cmocka_unit_test(test_slow_rules),
		cmocka_unit_test(test_bad_expressions),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_memory_beyond_the_window),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_too_deep),
		cmocka_unit_test(test_cache),
	};

	return cmocka_run_group_tests_name("unwind_walk", tests, NULL, NULL);
}
