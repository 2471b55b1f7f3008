/*
 * The call tree's four degrees: the worked figures of the definition, row order, stubs, and trees
 * of a million levels.  Agreement with the plain slow implementation is tested in
 * test_properties.c.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../slow/text_profile.h"
#include "../unit.h"
#include "analysis/calltree.h"
#include "base/alloc.h"

static void expect_tree(const struct profile *p, enum collapse collapse, enum calltree_order order,
	const char *expected)
{
	struct arena *arena = arena_create();
	struct strbuf text = {0};
	struct entity_tree *tree = entity_tree_of(p, LEVEL_FUNCTION, p->default_metric, arena);
	struct calltree *t = calltree_analyse(tree, collapse, order, NULL, arena);

	assert_string_equal(text_calltree(t, &text), expected);
	strbuf_deinit(&text);
	arena_destroy(arena);
}

static void expect(const char *lines, enum collapse collapse, const char *expected)
{
	struct profile *p = text_profile(lines);

	expect_tree(p, collapse, CALLTREE_FIRST_SEEN, expected);
	profile_destroy(p);
}

static const char six_stacks[] = "main r 1\nmain r s 1\nmain r r 1\nmain r r s 1\n"
				 "main r r r 1\nmain r r r s 1\n";

TEST(test_six_stacks_none)
{
	expect(six_stacks, COLLAPSE_NONE,
		"main 6 0 | -r 6 1 | --s 1 1 | --r 4 1 | ---s 1 1 | ---r 2 1 | ----s 1 1");
}

/* r calls only itself, so the three degrees that collapse agree. */
TEST(test_six_stacks_collapsed)
{
	for (enum collapse c = COLLAPSE_DIRECT; c < COLLAPSE_COUNT; c++)
		expect(six_stacks, c, "main 6 0 | -r 6 3 | --s 1(2) 3 | --r...>1");
}

static const char long_cycle[] = "main a b c b a d c 1\n";

TEST(test_long_cycle_full)
{
	expect(long_cycle, COLLAPSE_FULL,
		"main 1 0 | -a 1 0 | --b 1 0 | ---c 1 0 | ----b...>2 | ---a...>1 | "
		"--d 0(1) 0 | ---c 0(1) 1");
}

/* Each jump would lose a name: c on the way back to b, then b and c on the way back to a. */
TEST(test_long_cycle_conservative)
{
	static const char plain[] = "main 1 0 | -a 1 0 | --b 1 0 | ---c 1 0 | ----b 1 0 | "
				    "-----a 1 0 | ------d 1 0 | -------c 1 1";

	expect(long_cycle, COLLAPSE_CONSERVATIVE, plain);
	expect(long_cycle, COLLAPSE_DIRECT, plain);
	expect(long_cycle, COLLAPSE_NONE, plain);
}

TEST(test_two_names_in_turn)
{
	static const char stack[] = "main a b a b 1\n";

	expect(stack, COLLAPSE_NONE, "main 1 0 | -a 1 0 | --b 1 0 | ---a 1 0 | ----b 1 1");
	expect(stack, COLLAPSE_DIRECT, "main 1 0 | -a 1 0 | --b 1 0 | ---a 1 0 | ----b 1 1");
	expect(stack, COLLAPSE_CONSERVATIVE, "main 1 0 | -a 1 0 | --b 1 1 | ---a 1 0 | ----b...>2");
	expect(stack, COLLAPSE_FULL, "main 1 0 | -a 1 0 | --b 1 1 | ---a...>1");
}

/* After a jump b is met again on the way: it stays direct, only what is new is indirect. */
TEST(test_first_arrival_decides)
{
	expect("main a b a b c 1\n", COLLAPSE_FULL,
		"main 1 0 | -a 1 0 | --b 1 0 | ---a...>1 | ---c 0(1) 1");
}

/* The root may be where a jump goes: it is a function like any other. */
TEST(test_jump_to_first_frame)
{
	expect("f g f 1\nf g 2\n", COLLAPSE_FULL, "f 3 1 | -g 3 2 | --f...>0");
}

TEST(test_several_roots)
{
	expect("main a 1\nthread a a 1\na 1\n", COLLAPSE_FULL,
		"main 1 0 | -a 1 1 | thread 1 0 | -a 1 1 | --a...>3 | a 1 1");
}

TEST(test_order_by_weight)
{
	struct profile *p = text_profile("m x x 9\nm c 2\nm a 1\nm b 2\nm a m 1\nm d 7\nm d c 1\n");

	expect_tree(p, COLLAPSE_FULL, CALLTREE_BY_WEIGHT,
		"m 23 1 | -x 9 9 | --x...>1 | -d 8 7 | --c 1 1 | -a 2 1 | --m...>0 | "
		"-b 2 2 | -c 2 2");
	profile_destroy(p);
}

/* A direct stub of a weighs more than child b, but has no counts of its own: stubs come last. */
TEST(test_stubs_last_by_weight)
{
	struct profile *p = text_profile("m a a 5\nm a b 1\nm a m 1\n");

	expect_tree(p, COLLAPSE_FULL, CALLTREE_BY_WEIGHT,
		"m 7 1 | -a 7 5 | --b 1 1 | --a...>1 | --m...>0");
	expect_tree(p, COLLAPSE_FULL, CALLTREE_FIRST_SEEN,
		"m 7 1 | -a 7 5 | --a...>1 | --b 1 1 | --m...>0");
	profile_destroy(p);
}

/* One name in two load objects is two functions. */
TEST(test_identity)
{
	expect("one:f two:f one:f 1\n", COLLAPSE_FULL, "f 1 1 | -f 1 0 | --f...>0");
}

TEST(test_zero_rows_left_out)
{
	expect("m a 0\nm b 1\n", COLLAPSE_FULL, "m 1 0 | -b 1 1");
	expect("m a 2\nm a b 0\nm a a 0\n", COLLAPSE_FULL, "m 2 0 | -a 2 2");
	expect("m a 0\n", COLLAPSE_NONE, "");
	expect("", COLLAPSE_FULL, "");
	/* m and a cancel to nothing, but what is below them does not. */
	expect("m a b 3\nm a c -3\n", COLLAPSE_NONE, "m 0 0 | -a 0 0 | --b 3 3 | --c -3 -3");
	/* The stub's weight cancels, and so does all that is seen only through it. */
	expect("m a m b 3\nm a m c -3\nm 1\n", COLLAPSE_FULL, "m 1 1 | -b 0(3) 3 | -c 0(-3) -3");
}

TEST(test_stub_figures)
{
	struct profile *p = text_profile("m r 4\nm r r 2\nm r r r r 3\nm r r s r r 5\n");
	struct arena *arena = arena_create();
	struct entity_tree *tree = entity_tree_of(p, LEVEL_FUNCTION, p->default_metric, arena);
	struct calltree *t =
		calltree_analyse(tree, COLLAPSE_FULL, CALLTREE_FIRST_SEEN, NULL, arena);

	/* m | r | r... | s | r...: the stub below s is another one than that below r. */
	assert_int_equal(t->count, 5);
	assert_true(t->rows[2].is_stub);
	assert_int_equal(t->stubs[t->rows[2].stub].weight, 2 + 3 + 5);
	assert_int_equal(t->stubs[t->rows[2].stub].jumps_max, 3);
	assert_true(t->stubs[t->rows[2].stub].jumps_mean == (2 * 1 + 3 * 3 + 5 * 2) / 10.0);
	assert_true(t->rows[4].is_stub);
	assert_int_equal(t->rows[4].parent, 3);
	assert_int_equal(t->rows[4].target, 1);
	assert_int_equal(t->stubs[t->rows[4].stub].weight, 5);
	assert_int_equal(t->stubs[t->rows[4].stub].jumps_max, 1);
	assert_int_equal(t->level_max, 4);
	arena_destroy(arena);
	profile_destroy(p);
}

/* A stack of functions named f0, f1 …, by their numbers. */
static struct profile *numbered_profile(uint32_t names, const uint32_t *chain, size_t depth)
{
	char(*bytes)[12] = xcalloc(names, sizeof(*bytes));
	const char **pointers = xcalloc(names, sizeof(*pointers));

	for (uint32_t i = 0; i < names; i++) {
		snprintf(bytes[i], sizeof(bytes[i]), "f%u", i);
		pointers[i] = bytes[i];
	}
	struct profile *p = chain_profile(pointers, chain, depth, 1);
	free(pointers);
	free(bytes);
	return p;
}

static const struct calltree *analyse(
	const struct profile *p, enum collapse collapse, struct arena *arena)
{
	struct entity_tree *tree = entity_tree_of(p, LEVEL_FUNCTION, p->default_metric, arena);

	return calltree_analyse(tree, collapse, CALLTREE_BY_WEIGHT, NULL, arena);
}

/* With sanitizers frames are larger, so that fewer levels would overflow the stack. */
#ifdef __SANITIZE_ADDRESS__
#define DEEP 200000
#else
#define DEEP 1000000
#endif

TEST(test_million_deep_recursion)
{
	static const size_t rows[] = {DEEP, 2, 2, 2};
	uint32_t *chain = xcalloc(DEEP, sizeof(*chain));
	struct profile *p = numbered_profile(1, chain, DEEP);

	for (enum collapse c = COLLAPSE_NONE; c < COLLAPSE_COUNT; c++) {
		struct arena *arena = arena_create();
		const struct calltree *t = analyse(p, c, arena);
		assert_int_equal(t->count, rows[c]);
		assert_int_equal(t->level_max, rows[c]);
		assert_int_equal(t->rows[c == COLLAPSE_NONE ? DEEP - 1 : 0].in_only, 1);
		if (c != COLLAPSE_NONE)
			assert_int_equal(t->stubs[t->rows[1].stub].jumps_max, DEEP - 1);
		arena_destroy(arena);
	}
	profile_destroy(p);
	free(chain);
}

/* Half a million different names, then the same once more: each of the second half looks up. */
TEST(test_million_deep_names)
{
	uint32_t *chain = xcalloc(DEEP, sizeof(*chain));

	for (uint32_t i = 0; i < DEEP; i++)
		chain[i] = i % (DEEP / 2);
	struct profile *p = numbered_profile(DEEP / 2, chain, DEEP);
	for (enum collapse c = COLLAPSE_DIRECT; c < COLLAPSE_COUNT; c++) {
		struct arena *arena = arena_create();
		uint32_t full = DEEP / 2 + 1;
		assert_int_equal(analyse(p, c, arena)->count, c == COLLAPSE_FULL ? full : DEEP);
		arena_destroy(arena);
	}
	profile_destroy(p);
	free(chain);
}

/* 1, 2 1, 3 1 2, 4 1 2 3 …: no jump keeps all names, so k names stand k(k+1)/2 deep. */
TEST(test_conservative_depth_bound)
{
	enum { NAMES = 1000, DEPTH = NAMES * (NAMES + 1) / 2 };
	uint32_t *chain = xcalloc(DEPTH + 1, sizeof(*chain));
	struct arena *arena = arena_create();
	size_t depth = 0;

	for (uint32_t k = 0; k < NAMES; k++) {
		chain[depth++] = k;
		for (uint32_t i = 0; i < k; i++)
			chain[depth++] = i;
	}
	/* One frame more, whichever, and it jumps. */
	struct profile *p = numbered_profile(NAMES, chain, depth + 1);
	const struct calltree *t = analyse(p, COLLAPSE_CONSERVATIVE, arena);
	assert_int_equal(t->count, DEPTH + 1);
	assert_int_equal(t->level_max, DEPTH + 1);
	assert_false(t->rows[DEPTH - 1].is_stub);
	assert_true(t->rows[DEPTH].is_stub);
	profile_destroy(p);
	arena_destroy(arena);
	free(chain);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_six_stacks_none),
		cmocka_unit_test(test_six_stacks_collapsed),
		cmocka_unit_test(test_long_cycle_full),
		cmocka_unit_test(test_long_cycle_conservative),
		cmocka_unit_test(test_two_names_in_turn),
		cmocka_unit_test(test_first_arrival_decides),
		cmocka_unit_test(test_jump_to_first_frame),
		cmocka_unit_test(test_several_roots),
		cmocka_unit_test(test_order_by_weight),
		cmocka_unit_test(test_stubs_last_by_weight),
		cmocka_unit_test(test_identity),
		cmocka_unit_test(test_zero_rows_left_out),
		cmocka_unit_test(test_stub_figures),
		cmocka_unit_test(test_million_deep_recursion),
		cmocka_unit_test(test_million_deep_names),
		cmocka_unit_test(test_conservative_depth_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
