/*
 * Exclusive and inclusive weight: the worked figure of the definition, recursion, order of rows.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "../slow/text_profile.h"
#include "../unit.h"
#include "analysis/functions.h"
#include "base/alloc.h"

/* Rows as "name exclusive inclusive", with " | " between. */
static void expect(const char *lines, enum level level, const char *expected)
{
	struct arena *arena = arena_create();
	struct profile *p = text_profile(lines);
	struct entity_tree *tree = entity_tree_of(p, level, p->default_metric, arena);
	struct functions *f = functions_analyse(tree, arena);
	struct strbuf text = {0};

	strbuf_add(&text, STR(""));
	for (size_t i = 0; i < f->count; i++) {
		const struct function_row *r = &f->rows[i];
		strbuf_printf(&text, "%s%.*s %" PRId64 " %" PRId64, i ? " | " : "",
			STR_ARG(tree->entities[r->entity].name), r->exclusive, r->inclusive);
	}
	assert_string_equal(text.data, expected);
	strbuf_deinit(&text);
	profile_destroy(p);
	arena_destroy(arena);
}

/*
 * main calls A, does 2 units, calls B; A calls C(10); B calls C(7.5), does 5, calls C(7.5); C(n)
 * spends 20 % itself, 40 % in E, 40 % in F, and F passes all or part on to G.  In tenths.
 */
TEST(test_worked_figure)
{
	expect("main 20\nmain A C 20\nmain A C E 40\nmain A C F G 40\n"
	       "main B 50\nmain B C 30\nmain B C E 60\nmain B C F 10\nmain B C F G 50\n",
		LEVEL_FUNCTION,
		"E 100 100 | G 90 90 | C 50 250 | B 50 200 | main 20 320 | F 10 100 | A 0 100");
}

TEST(test_recursion_counts_once)
{
	expect("main r r r 5\nmain r s r 2\n", LEVEL_FUNCTION, "r 7 7 | main 0 7 | s 0 2");
}

/* r stands twice below main and once below t; each stack still counts once. */
TEST(test_separate_subtrees)
{
	expect("main r a r 1\nmain b r 2\nmain r 4\nt r r 8\n", LEVEL_FUNCTION,
		"r 15 15 | t 0 8 | main 0 7 | b 0 2 | a 0 1");
}

TEST(test_order_of_rows)
{
	expect("z 1\ny 1\nx 1 1\nb:f 1\na:f 1\na:f g 2\n", LEVEL_FUNCTION,
		"g 2 2 | f 1 3 | 1 1 1 | f 1 1 | y 1 1 | z 1 1 | x 0 1");
}

TEST(test_modules)
{
	expect("bin/a:main lib/c.so:f lib/c.so:g bin/a:h lib64/c.so:k 3\nbin/a:main lone 4\n",
		LEVEL_MODULE, "[unknown] 4 4 | c.so 3 3 | a 0 7");
}

TEST(test_zero_and_negative)
{
	expect("m a 0\nm b 2\n", LEVEL_FUNCTION, "b 2 2 | m 0 2");
	expect("m a -5\nm b 2\nm c a 5\n", LEVEL_FUNCTION, "b 2 2 | c 0 5 | m 0 2");
	expect("m a -5\nm 1\n", LEVEL_FUNCTION, "m 1 -4 | a -5 -5");
	expect("m a 0\n", LEVEL_FUNCTION, "");
	expect("", LEVEL_FUNCTION, "");
}

/* The empty stack has no leaf: its weight is a function's of its own. */
TEST(test_empty_stack)
{
	expect("3\nm 2\n", LEVEL_FUNCTION, "[no stack] 3 3 | m 2 2");
}

TEST(test_million_deep)
{
	enum { DEEP = 1000000 };
	static const char *const names[] = {"a", "b", "c"};
	uint32_t *chain = xcalloc(DEEP, sizeof(*chain));
	struct arena *arena = arena_create();

	for (uint32_t i = 1; i < DEEP; i++)
		chain[i] = 1 + i % 2;
	struct profile *p = chain_profile(names, chain, DEEP, 7);
	struct entity_tree *tree = entity_tree_of(p, LEVEL_FUNCTION, p->default_metric, arena);
	struct functions *f = functions_analyse(tree, arena);
	assert_int_equal(tree->depth_max, DEEP);
	assert_int_equal(f->count, 3);
	for (size_t i = 0; i < f->count; i++)
		assert_int_equal(f->rows[i].inclusive, 7);
	assert_int_equal(f->rows[0].exclusive, 7);
	profile_destroy(p);
	arena_destroy(arena);
	free(chain);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_worked_figure),
		cmocka_unit_test(test_recursion_counts_once),
		cmocka_unit_test(test_separate_subtrees),
		cmocka_unit_test(test_order_of_rows),
		cmocka_unit_test(test_modules),
		cmocka_unit_test(test_zero_and_negative),
		cmocka_unit_test(test_empty_stack),
		cmocka_unit_test(test_million_deep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
