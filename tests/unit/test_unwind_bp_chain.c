/*
 * Frames of generated code by the chain of their frame pointers: followed where it holds, and
 * refused where it does not.
 */

#include <string.h>

#include "../fake_stack.h"
#include "../unit.h"
#include "base/compiler.h"

/* Code without a load object, and the places in it. */
#define MADE_VA ((uint64_t)0x600000000000)
enum { MADE_SIZE = 0x1000, FN_INTERPRETER = 0x100, FN_COMPILED = 0x200, FN_ENTRY = 0x300 };
/* Words of the stack: the frame pointers of three frames, outside each other. */
enum { LEAF = 10, MIDDLE = 20, ENTRY = 30 };

struct chained {
	struct fake_stack s;
	uint8_t code[OBJECT_SIZE], made[MADE_SIZE];
	size_t reads; /* of memory outside the window */
};

static bool read_code(struct unwind_memory *memory, uint64_t va, uint8_t *bytes, size_t size)
{
	struct chained *c = memory->context;
	bool is_made = va >= MADE_VA && va - MADE_VA <= sizeof(c->made) - size;

	if (!is_made && (va < OBJECT_VA || va - OBJECT_VA > sizeof(c->code) - size))
		return false;
	memcpy(bytes, is_made ? c->made + (va - MADE_VA) : c->code + (va - OBJECT_VA), size);
	return true;
}

static uint64_t made_va(uint64_t at)
{
	return MADE_VA + at;
}

static void put_frame(struct chained *c, size_t word, uint64_t bp, uint64_t return_va)
{
	c->s.words[word] = bp;
	c->s.words[word + 1] = return_va;
}

/*
 * main called the entry, and that the interpreter, in which a function runs that was entered by a
 * jump.
 */
static void init(struct chained *c)
{
	memset(c, 0, sizeof(*c));
	memset(c->code, 0x90, sizeof(c->code));
	memset(c->made, 0xcc, sizeof(c->made)); /* no rule can be derived from it */
	fake_stack_init(&c->s, STACK_WORDS);
	unwind_space_add(&c->s.space, (struct unwind_mapping){.low_va = MADE_VA,
					      .high_va = MADE_VA + MADE_SIZE,
					      .slide = MADE_VA,
					      .object = 8});
	c->s.memory.read_code = read_code;
	c->s.memory.context = c;
	c->code[FN_END + 1] = c->made[FN_ENTRY + 1] = 0xe8; /* calls, which return at 6 */
	put_frame(c, LEAF, word_va(MIDDLE), made_va(FN_INTERPRETER + 6));
	put_frame(c, MIDDLE, word_va(ENTRY), made_va(FN_ENTRY + 6));
	put_frame(c, ENTRY, 0x1234, code_va(FN_END + 6));
	fake_stack_set(&c->s, made_va(FN_COMPILED), word_va(0), word_va(LEAF));
}

static void expect_whole(struct chained *c)
{
	fake_stack_walk(&c->s, NULL);
	assert_int_equal(c->s.stack.end, UNWIND_ROOT);
	assert_int_equal(c->s.stack.count, 4);
	assert_int_equal(c->s.stack.frames[1].pc, made_va(FN_INTERPRETER + 6));
	assert_int_equal(c->s.stack.frames[2].pc, made_va(FN_ENTRY + 6));
	assert_int_equal(c->s.stack.frames[3].pc, code_va(FN_END + 6));
	assert_int_equal(c->s.stack.guess_at, 1);
	assert_true(c->s.stack.guessed > 0);
}

static void expect_cut(struct chained *c)
{
	fake_stack_walk(&c->s, NULL);
	assert_int_equal(c->s.stack.end, UNWIND_NO_RULE);
	assert_int_equal(c->s.stack.count, 1);
	fake_stack_deinit(&c->s);
}

TEST(test_chain)
{
	struct chained c;

	init(&c);
	expect_whole(&c);
	/* The function has just saved the frame pointer. */
	put_frame(&c, LEAF, word_va(MIDDLE), made_va(FN_INTERPRETER + 6));
	fake_stack_set(&c.s, made_va(FN_COMPILED), word_va(LEAF), word_va(MIDDLE));
	expect_whole(&c);
	/* It has not yet, and the interpreter was entered likewise. */
	put_frame(&c, MIDDLE, word_va(ENTRY), made_va(FN_INTERPRETER + 9));
	fake_stack_set(&c.s, made_va(FN_COMPILED), word_va(LEAF + 1), word_va(MIDDLE));
	fake_stack_walk(&c.s, NULL);
	assert_int_equal(c.s.stack.end, UNWIND_ROOT);
	assert_int_equal(c.s.stack.count, 4);
	assert_int_equal(c.s.stack.frames[1].pc, made_va(FN_INTERPRETER + 6));
	assert_int_equal(c.s.stack.frames[2].pc, made_va(FN_INTERPRETER + 9));
	fake_stack_deinit(&c.s);
}

/* The function's instructions show where it returns, but not that anything called it. */
TEST(test_code_rule)
{
	/* add $72,%rsp; pop %rbp; ret */
	static const uint8_t exit[] = {0x48, 0x83, 0xc4, 72, 0x5d, 0xc3};
	struct chained c;

	init(&c);
	memcpy(c.made + FN_COMPILED, exit, sizeof(exit));
	/* Its own frame pointer is of no use: it is a number. */
	put_frame(&c, 9, word_va(MIDDLE), made_va(FN_INTERPRETER + 6));
	fake_stack_set(&c.s, made_va(FN_COMPILED), word_va(0), 77);
	expect_whole(&c);
	/* Nor does the rule hold if the number is all that there is. */
	put_frame(&c, 9, 77, made_va(FN_INTERPRETER + 6));
	expect_cut(&c);
}

enum { MOVED = LEAF + 6 };

/*
 * Compiled code, which uses bp for a number, has called the interpreter: what was called between
 * them has moved sp, from MOVED.
 */
static void init_moved(struct chained *c, uint64_t return_va)
{
	/* call; add $16,%rsp; pop %rbp; ret */
	static const uint8_t calling[] = {0x90, 0xe8, 0, 0, 0, 0, 0x48, 0x83, 0xc4, 16, 0x5d, 0xc3};

	init(c);
	memcpy(c->made + FN_COMPILED, calling, sizeof(calling));
	put_frame(c, LEAF, 77, made_va(FN_COMPILED + 6));
	c->s.words[LEAF - 1] = word_va(MOVED);
	put_frame(c, MOVED + 2, word_va(ENTRY), return_va);
	fake_stack_set(&c->s, made_va(FN_INTERPRETER), word_va(0), word_va(LEAF));
}

TEST(test_moved_sp)
{
	const uint64_t return_vas[] = {made_va(FN_ENTRY + 6), made_va(FN_INTERPRETER + 9)};
	const uint64_t not_moved[] = {0, word_va(MOVED) + 4, word_va(LEAF + 1), word_va(MOVED + 1),
		word_va(MOVED) + 0x1000, UINT64_MAX - 7};
	struct chained c;

	/* Where there was a call, and where only the chain of frame pointers shows it. */
	for (size_t i = 0; i < ARRAY_SIZE(return_vas); i++) {
		init_moved(&c, return_vas[i]);
		fake_stack_walk(&c.s, NULL);
		assert_int_equal(c.s.stack.end, UNWIND_ROOT);
		assert_int_equal(c.s.stack.count, 4);
		assert_int_equal(c.s.stack.frames[1].pc, made_va(FN_COMPILED + 6));
		assert_int_equal(c.s.stack.frames[2].pc, return_vas[i]);
		assert_int_equal(c.s.stack.frames[3].pc, code_va(FN_END + 6));
		assert_true(c.s.stack.guessed > 0);
		fake_stack_deinit(&c.s);
	}
	for (size_t i = 0; i < ARRAY_SIZE(not_moved); i++) {
		init_moved(&c, return_vas[0]);
		c.s.words[LEAF - 1] = not_moved[i];
		fake_stack_walk(&c.s, NULL);
		assert_int_equal(c.s.stack.end, UNWIND_NO_RULE);
		assert_int_equal(c.s.stack.count, 2);
		fake_stack_deinit(&c.s);
	}
}

/* Without a jump, a return address after a call is enough, and the chain is not looked at. */
TEST(test_called)
{
	struct chained c;

	init(&c);
	c.made[FN_INTERPRETER + 1] = 0xe8;
	expect_whole(&c);
	fake_stack_deinit(&c.s);
}

TEST(test_not_executable)
{
	struct chained c;

	init(&c);
	put_frame(&c, MIDDLE, word_va(ENTRY), word_va(5));
	expect_cut(&c);
	init(&c);
	put_frame(&c, LEAF, word_va(MIDDLE), made_va(MADE_SIZE + 6));
	expect_cut(&c);
}

/* In a load object, a return address follows a call. */
TEST(test_no_call)
{
	struct chained c;

	init(&c);
	put_frame(&c, LEAF, word_va(MIDDLE), code_va(FN_END + 3));
	expect_cut(&c);
	init(&c);
	put_frame(&c, MIDDLE, word_va(ENTRY), code_va(FN_BARE + 6));
	expect_cut(&c);
	/* Nor does generated code alone make a chain. */
	init(&c);
	c.made[FN_ENTRY + 1] = 0xcc;
	put_frame(&c, ENTRY, 0, 0);
	expect_cut(&c);
}

TEST(test_inwards)
{
	const uint64_t bps[] = {word_va(5), word_va(LEAF), word_va(LEAF + 1), word_va(MIDDLE) + 4,
		0, UINT64_MAX - 7, word_va(STACK_WORDS)};
	struct chained c;

	for (size_t i = 0; i < ARRAY_SIZE(bps); i++) {
		init(&c);
		put_frame(&c, LEAF, bps[i], made_va(FN_INTERPRETER + 6));
		expect_cut(&c);
	}
}

TEST(test_loop)
{
	struct chained c;

	init(&c);
	put_frame(&c, MIDDLE, word_va(LEAF), made_va(FN_INTERPRETER + 6));
	expect_cut(&c);
	init(&c);
	put_frame(&c, MIDDLE, word_va(MIDDLE), made_va(FN_INTERPRETER + 6));
	expect_cut(&c);
}

/* The words outside the window are the same ones; each read is counted. */
static bool read_word(struct unwind_memory *memory, uint64_t va, uint64_t *value)
{
	struct chained *c = memory->context;

	c->reads++;
	if (va < STACK_VA || va - STACK_VA >= 8 * c->s.word_count || va % 8)
		return false;
	*value = c->s.words[(va - STACK_VA) / 8];
	return true;
}

/* A chain of that many frames of the interpreter. */
static size_t walk_long_chain(struct chained *c, size_t frames, uint64_t outermost)
{
	init(c);
	c->s.memory.high_va = c->s.memory.low_va;
	c->s.memory.read = read_word;
	for (size_t i = 0; i < frames; i++)
		put_frame(
			c, LEAF + 3 * i, word_va(LEAF + 3 * (i + 1)), made_va(FN_INTERPRETER + 6));
	put_frame(c, LEAF + 3 * frames, 0, outermost);
	fake_stack_walk(&c->s, NULL);
	fake_stack_deinit(&c->s);
	return c->reads;
}

/* What a chain costs is linear, whether it holds or not. */
TEST(test_cost)
{
	struct chained c;

	size_t few = walk_long_chain(&c, 100, code_va(FN_END + 6));
	assert_int_equal(c.s.stack.end, UNWIND_ROOT);
	assert_int_equal(c.s.stack.count, 102);
	size_t many = walk_long_chain(&c, 1000, code_va(FN_END + 6));
	assert_int_equal(c.s.stack.count, 1002);
	assert_in_range(many, 9 * few, 11 * few);
	many = walk_long_chain(&c, 1000, 0);
	assert_int_equal(c.s.stack.end, UNWIND_NO_RULE);
	assert_in_range(many, 1000, 11 * few);
}

/*
 * A hostile stack: each frame seems to lead to a long chain, which breaks at its end, and has a
 * frame pointer to the next as well.
 */
TEST(test_broken_chains)
{
	enum { FRAMES = 150, CHAIN = 1000 };
	/* add $8,%rsp; pop %rbp; ret */
	static const uint8_t exit[] = {0x48, 0x83, 0xc4, 8, 0x5d, 0xc3};
	struct chained c;

	init(&c);
	c.s.memory.high_va = c.s.memory.low_va;
	c.s.memory.read = read_word;
	memcpy(c.made + FN_ENTRY + 6, exit, sizeof(exit));
	for (size_t i = 0; i < 5 * FRAMES; i += 5) {
		put_frame(&c, i + 1, word_va(CHAIN), made_va(FN_INTERPRETER + 6));
		put_frame(&c, i + 3, word_va(i + 8), made_va(FN_ENTRY + 6));
	}
	for (size_t i = CHAIN; i < CHAIN + 2 * FRAMES; i += 2)
		put_frame(&c, i, word_va(i + 2), made_va(FN_INTERPRETER + 6));
	put_frame(&c, CHAIN + 2 * FRAMES, 0, 0);
	c.s.words[5 * FRAMES - 2] = 0; /* the outermost frame */
	fake_stack_set(&c.s, made_va(FN_ENTRY + 6), word_va(0), word_va(3));
	fake_stack_walk(&c.s, NULL);
	assert_int_equal(c.s.stack.end, UNWIND_ROOT);
	assert_int_equal(c.s.stack.count, FRAMES + 1);
	assert_true(c.reads < 30 * FRAMES);
	/* If the chain does not break, then each frame leaves the one before. */
	put_frame(&c, CHAIN + 2 * FRAMES, 0, code_va(FN_END + 6));
	c.reads = 0;
	fake_stack_walk(&c.s, NULL);
	assert_int_equal(c.s.stack.end, UNWIND_ROOT);
	assert_int_equal(c.s.stack.count, FRAMES + 3);
	assert_true(c.reads < 30 * FRAMES);
	fake_stack_deinit(&c.s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_code_rule),
		cmocka_unit_test(test_moved_sp),
		cmocka_unit_test(test_called),
		cmocka_unit_test(test_not_executable),
		cmocka_unit_test(test_no_call),
		cmocka_unit_test(test_inwards),
		cmocka_unit_test(test_loop),
		cmocka_unit_test(test_cost),
		cmocka_unit_test(test_broken_chains),
	};

	return cmocka_run_group_tests_name("unwind_bp_chain", tests, NULL, NULL);
}
