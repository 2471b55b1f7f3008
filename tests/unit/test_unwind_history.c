/*
 * Suffix reuse: what is reused, what is not, that errors are found, that reused stacks are the same
 * as those walked in full.
 */

#include <stdlib.h>
#include <string.h>

#include "../fake_stack.h"
#include "../unit.h"
#include "base/alloc.h"
#include "base/hash.h"

/* Frames take two words: the return address and a word of the frame's own. */
struct deep {
	struct fake_stack s;
	struct unwind_history *history;
	size_t top; /* index of the word at the outermost frame's end */
};

static void deep_init(struct deep *d, size_t depth_max)
{
	fake_stack_init(&d->s, 2 * depth_max + 8);
	d->history = unwind_history_create();
	d->top = 2 * depth_max;
	d->s.words[d->top + 1] = code_va(FN_END + 1);
}

static void deep_deinit(struct deep *d)
{
	unwind_history_destroy(d->history);
	fake_stack_deinit(&d->s);
}

/* Makes frames from depth `from` (0: outermost) to `to`, each with data of its own. */
static void deep_fill(struct deep *d, size_t from, size_t to, uint64_t data)
{
	for (size_t i = from; i < to; i++) {
		d->s.words[d->top - 2 * i] = hash_u64(data + i);
		d->s.words[d->top - 2 * i - 1] = code_va(FN_SP16 + 1 + (data + i) % 64);
	}
}

/* Walks as from a leaf at that depth; gives each new frame its depth + 1 as its node. */
static void deep_walk(struct deep *d, size_t depth)
{
	fake_stack_set(&d->s, code_va(FN_SP16), word_va(d->top - 2 * depth), 0);
	fake_stack_walk(&d->s, d->history);
	struct unwind_stack *stack = &d->s.stack;
	for (size_t i = 0; i < stack->count; i++)
		stack->frames[i].node = (uint32_t)(stack->reused + stack->count - i);
	if (stack->end == UNWIND_REUSED)
		assert_int_equal(stack->reused_node, stack->reused);
	assert_int_equal(stack->count + stack->reused, depth + 2);
	unwind_history_keep(d->history, stack);
}

TEST(test_reuse)
{
	struct deep d;

	deep_init(&d, 1000);
	deep_fill(&d, 0, 1000, 1);
	deep_walk(&d, 900);
	assert_int_equal(d.s.stack.end, UNWIND_ROOT);
	/* Deeper: only what is new, and the run by which the rest is recognised, is walked. */
	for (size_t depth = 901; depth < 1000; depth++) {
		uint64_t frames = unwind_walker_counts(d.s.walker).frames;
		deep_walk(&d, depth);
		assert_int_equal(d.s.stack.end, UNWIND_REUSED);
		assert_true(d.s.stack.count <= 3);
		assert_true(unwind_walker_counts(d.s.walker).frames - frames <= 3);
	}
	/* And back. */
	for (size_t depth = 999; depth > 100; depth -= 7) {
		deep_walk(&d, depth);
		assert_int_equal(d.s.stack.end, UNWIND_REUSED);
	}
	struct unwind_counts counts = unwind_walker_counts(d.s.walker);
	assert_int_equal(counts.reuse_mismatches, 0);
	assert_int_equal(counts.reuse_checks, (counts.reuses + 15) / 16);
	deep_deinit(&d);
}

/* The very same stack: there is nothing new in it. */
TEST(test_reuse_all)
{
	struct deep d;

	deep_init(&d, 100);
	deep_fill(&d, 0, 100, 1);
	deep_walk(&d, 100);
	deep_walk(&d, 100);
	assert_int_equal(d.s.stack.end, UNWIND_REUSED);
	assert_int_equal(d.s.stack.count, 0);
	assert_int_equal(d.s.stack.reused_node, 102);
	deep_deinit(&d);
}

TEST(test_no_reuse)
{
	struct deep d;

	deep_init(&d, 200);
	deep_fill(&d, 0, 200, 1);
	deep_walk(&d, 200);
	/* Other data in all frames. */
	deep_fill(&d, 0, 200, 64 * 1000 + 1);
	deep_walk(&d, 200);
	assert_int_equal(d.s.stack.end, UNWIND_ROOT);
	/* Other mappings. */
	unwind_space_remove(&d.s.space, 0x1000, 0x2000);
	deep_walk(&d, 200);
	assert_int_equal(d.s.stack.end, UNWIND_ROOT);
	deep_walk(&d, 199);
	assert_int_equal(d.s.stack.end, UNWIND_REUSED);
	unwind_history_clear(d.history);
	deep_walk(&d, 199);
	assert_int_equal(d.s.stack.end, UNWIND_ROOT);
	deep_deinit(&d);
}

/* More code changes nothing in a stack that is known; other code in its place does. */
TEST(test_code_that_comes_and_goes)
{
	struct deep d;

	deep_init(&d, 200);
	deep_fill(&d, 0, 200, 1);
	deep_walk(&d, 200);
	struct unwind_mapping own = *unwind_space_find(&d.s.space, code_va(FN_SP16));
	struct unwind_mapping more = {.low_va = 0x1000, .high_va = 0x3000, .object = 7};
	struct unwind_mapping pending = more;

	pending.object |= UNWIND_PENDING;
	unwind_space_add(&d.s.space, pending);
	/* No memory for a whole walk, as with a copy up to what is known. */
	uint64_t high_va = d.s.memory.high_va;

	d.s.memory.high_va = word_va(d.top - 2 * 100);
	deep_walk(&d, 200);
	assert_int_equal(d.s.stack.end, UNWIND_REUSED);
	unwind_space_add(&d.s.space, more);
	unwind_space_add(&d.s.space, own);
	deep_walk(&d, 200);
	assert_int_equal(d.s.stack.end, UNWIND_REUSED);
	d.s.memory.high_va = high_va;
	/* In place of a part of the first. */
	more.low_va = 0x2000;
	unwind_space_add(&d.s.space, more);
	deep_walk(&d, 200);
	assert_int_equal(d.s.stack.end, UNWIND_ROOT);
	unwind_space_remove(&d.s.space, 0x2000, 0x3000);
	deep_walk(&d, 200);
	assert_int_equal(d.s.stack.end, UNWIND_ROOT);
	deep_walk(&d, 200);
	assert_int_equal(d.s.stack.end, UNWIND_REUSED);
	deep_deinit(&d);
}

/* Only a frame far outside has changed: the check must find it. */
TEST(test_mismatch)
{
	struct deep d;

	deep_init(&d, 200);
	deep_fill(&d, 0, 200, 1);
	deep_walk(&d, 200);
	deep_fill(&d, 50, 51, 2);
	/* The first reuse of a thread is checked. */
	deep_walk(&d, 200);
	assert_int_equal(d.s.stack.end, UNWIND_ROOT);
	assert_int_equal(unwind_walker_counts(d.s.walker).reuse_mismatches, 1);
	/* Never again. */
	deep_walk(&d, 200);
	assert_int_equal(d.s.stack.end, UNWIND_ROOT);
	assert_int_equal(unwind_walker_counts(d.s.walker).reuses, 0);
	deep_deinit(&d);
}

/* A stack that was not whole is not remembered, the last whole one still is. */
TEST(test_truncated_is_not_kept)
{
	struct deep d;

	deep_init(&d, 200);
	deep_fill(&d, 0, 200, 1);
	deep_walk(&d, 200);
	uint64_t high_va = d.s.memory.high_va;
	d.s.memory.high_va = word_va(d.top - 2 * 190);
	fake_stack_set(&d.s, code_va(FN_SP16), word_va(d.top - 2 * 200), 0);
	fake_stack_walk(&d.s, d.history);
	assert_int_equal(d.s.stack.end, UNWIND_NO_MEMORY);
	unwind_history_keep(d.history, &d.s.stack);
	d.s.memory.high_va = high_va;
	deep_walk(&d, 200);
	assert_int_equal(d.s.stack.end, UNWIND_REUSED);
	deep_deinit(&d);
}

/* With a window that ends early the rest is had from the history, unchecked. */
TEST(test_reuse_beyond_memory)
{
	struct deep d;

	deep_init(&d, 10000);
	deep_fill(&d, 0, 10000, 1);
	deep_walk(&d, 9990);
	d.s.memory.high_va = word_va(d.top - 2 * 9900);
	deep_walk(&d, 10000);
	assert_int_equal(d.s.stack.end, UNWIND_REUSED);
	assert_int_equal(unwind_walker_counts(d.s.walker).reuse_checks, 0);
	deep_deinit(&d);
}

/* Random descents and ascents, each stack against one walked without a history. */
/* A check that waits is made as soon as there is memory for it. */
TEST(test_check_put_off)
{
	struct deep d;

	deep_init(&d, 10000);
	deep_fill(&d, 0, 10000, 1);
	d.s.memory.checks_wait = true;
	assert_false(unwind_history_check_due(d.history));
	deep_walk(&d, 9990);
	assert_int_equal(unwind_history_count(d.history), 9992);
	assert_true(unwind_history_check_due(d.history));
	uint64_t high_va = d.s.memory.high_va;
	d.s.memory.high_va = word_va(d.top - 2 * 9900);
	for (size_t i = 0; i < 3; i++) {
		deep_walk(&d, 10000);
		assert_int_equal(d.s.stack.end, UNWIND_REUSED);
		assert_true(unwind_history_check_due(d.history));
	}
	assert_int_equal(unwind_walker_counts(d.s.walker).reuse_checks, 0);
	d.s.memory.high_va = high_va;
	deep_walk(&d, 10000);
	assert_int_equal(unwind_walker_counts(d.s.walker).reuse_checks, 1);
	assert_false(unwind_history_check_due(d.history));
	assert_false(d.s.memory.is_check);
	deep_deinit(&d);
}

TEST(test_random)
{
	enum { DEPTH = 400, WALKS = 3000 };
	struct deep d;
	struct unwind_walker *plain = unwind_walker_create();
	uint64_t random = 1;
	size_t depth = DEPTH / 2;

	deep_init(&d, DEPTH);
	deep_fill(&d, 0, depth, 1);
	uint64_t *pcs = xcalloc(DEPTH + 2, sizeof(*pcs)); /* by node */
	for (int walk = 0; walk < WALKS; walk++) {
		struct unwind_stack whole;
		random = hash_u64(random + (uint64_t)walk);
		size_t unwound = random % 64 % (depth + 1), descended = (random >> 8) % 64;
		depth -= unwound;
		if (depth + descended > DEPTH)
			descended = 0;
		deep_fill(&d, depth, depth + descended, random | 1);
		depth += descended;
		deep_walk(&d, depth);
		for (size_t i = 0; i < d.s.stack.count; i++)
			pcs[d.s.stack.frames[i].node - 1] = d.s.stack.frames[i].va;
		unwind_walk(plain, &d.s.space, NULL, &d.s.regs, &d.s.memory, &whole);
		assert_int_equal(whole.count, depth + 2);
		for (size_t i = 0; i < whole.count; i++)
			assert_int_equal(whole.frames[i].va, pcs[whole.count - 1 - i]);
	}
	assert_true(unwind_walker_counts(d.s.walker).reuses > WALKS / 2);
	assert_int_equal(unwind_walker_counts(d.s.walker).reuse_mismatches, 0);
	free(pcs);
	unwind_walker_destroy(plain);
	deep_deinit(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reuse),
		cmocka_unit_test(test_reuse_all),
		cmocka_unit_test(test_no_reuse),
		cmocka_unit_test(test_code_that_comes_and_goes),
		cmocka_unit_test(test_mismatch),
		cmocka_unit_test(test_truncated_is_not_kept),
		cmocka_unit_test(test_reuse_beyond_memory),
		cmocka_unit_test(test_check_put_off),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests_name("unwind_history", tests, NULL, NULL);
}
