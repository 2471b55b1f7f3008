/*
 * Callers and callees: the worked figures of the definition, recursion, centres of several names,
 * how a centre is asked for.  What must hold of any profile is in test_callers_random.c.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "../slow/text_profile.h"
#include "../unit.h"
#include "analysis/callers.h"
#include "base/alloc.h"
#include "base/error.h"

static void put_lines(const struct callers *c, uint32_t first, uint32_t count, struct strbuf *out)
{
	struct strbuf scratch = {0};

	for (uint32_t i = first; i < first + count; i++) {
		const struct callers_line *line = &c->lines[i];
		struct str name =
			line->entity == NO_ID
				? STR("<Total>")
				: entity_label(&c->tree->entities[line->entity], &scratch);
		strbuf_printf(out, "%s%.*s %" PRId64 "%s", i > first ? ", " : "", STR_ARG(name),
			line->attributed, line->is_recursive ? "*" : "");
	}
	strbuf_deinit(&scratch);
}

/* Rows as "callers > name exclusive inclusive > callees", with " | " between; '*': recursive. */
static void put_rows(const struct callers *c, struct strbuf *out)
{
	struct strbuf scratch = {0};

	strbuf_add(out, STR(""));
	for (size_t i = 0; i < c->count; i++) {
		const struct callers_row *r = &c->rows[i];
		struct str name = r->entity == NO_ID
					  ? entity_label(&c->centre->entity, &scratch)
					  : entity_label(&c->tree->entities[r->entity], &scratch);
		strbuf_add(out, i ? STR(" | ") : STR(""));
		put_lines(c, r->first_line, r->caller_count, out);
		strbuf_printf(out, " > %.*s %" PRId64 " %" PRId64 " > ", STR_ARG(name),
			r->exclusive, r->inclusive);
		put_lines(c, r->first_line + r->caller_count, r->callee_count, out);
	}
	strbuf_deinit(&scratch);
}

/* centre: NULL for all; at the given level. */
static void expect_at(const char *lines, enum level level, const char *centre, const char *expected)
{
	struct arena *arena = arena_create();
	struct profile *p = text_profile(lines);
	struct entity_tree *tree = entity_tree_of(p, level, p->default_metric, arena);
	const struct centre *found = NULL;
	struct strbuf text = {0};

	if (centre) {
		struct error *err = centre_find(tree, level, str_from(centre), arena, &found);
		assert_null(err);
	}
	struct callers *c = callers_analyse(tree, found, arena);
	assert_true(callers_check(c));
	put_rows(c, &text);
	assert_string_equal(text.data, expected);
	strbuf_deinit(&text);
	profile_destroy(p);
	arena_destroy(arena);
}

static void expect(const char *lines, const char *centre, const char *expected)
{
	expect_at(lines, LEVEL_FUNCTION, centre, expected);
}

/*
 * main calls A, does 2 units, calls B; A calls C(10); B calls C(7.5), does 5, calls C(7.5); C(n)
 * spends 20 % itself, 40 % in E, 40 % in F, and F passes all or part on to G.  In tenths.
 */
static const char worked[] = "main 20\nmain A C 20\nmain A C E 40\nmain A C F G 40\n"
			     "main B 50\nmain B C 30\nmain B C E 60\nmain B C F 10\n"
			     "main B C F G 50\n";

TEST(test_worked_figure)
{
	expect(worked, "main", "<Total> 320 > main 20 320 > B 200, A 100");
	expect(worked, "C", "B 150, A 100 > C 50 250 > E 100, F 100");
	expect(worked, NULL,
		"C 100 > E 100 100 >  | F 90 > G 90 90 >  | "
		"B 150, A 100 > C 50 250 > E 100, F 100 | main 200 > B 50 200 > C 150 | "
		"<Total> 320 > main 20 320 > B 200, A 100 | C 100 > F 10 100 > G 90 | "
		"main 100 > A 0 100 > C 100");
}

/*
 * The edge from m to r is 2 as m sees it, and 0 as r does: in that stack r stands again further
 * in, and there it is called by r.
 */
TEST(test_recursion)
{
	expect("m r r 2\n", NULL, "r 2, m 0* > r 2 2 > r 0* | <Total> 2 > m 0 2 > r 2");
	expect("m r r 2\nm r 1\n", "r", "r 2, m 1 > r 3 3 > r 0*");
}

/* Each is called by main in the outer occurrence alone. */
TEST(test_mutual_recursion)
{
	expect("main a b a 3\nmain b a b 4\n", NULL,
		"a 7, main 0* > b 4 7 > a 3 | b 7, main 0* > a 3 7 > b 4 | "
		"<Total> 7 > main 0 7 > b 4, a 3");
}

/* g calls f in the outer occurrence only, h in the inner one only. */
TEST(test_innermost_only)
{
	expect("g f x f y 5\nh f y 2\n", "f", "x 5, h 2, g 0* > f 0 7 > y 7, x 0*");
}

/* An edge of two stacks, one of which comes back: the rest of it is not recursive. */
TEST(test_partly_recursive)
{
	expect("g f x 1\ng f x f 2\n", "f", "x 2, g 1 > f 2 3 > x 1");
}

TEST(test_negative)
{
	expect("m a -5\nm b 2\n", NULL,
		"m 2 > b 2 2 >  | <Total> -3 > m 0 -3 > b 2, a -5 | m -5 > a -5 -5 > ");
	/* Zero in sum, and so left out, but neither recursive nor without callers. */
	expect("m a 5\nn a -5\n", "a", "m 5, n -5 > a 0 0 > ");
	expect("m a x 5\nm a y -5\n", "a", " > a 0 0 > x 5, y -5");
	expect("m a r r -5\nm a r 0\n", "r", "r -5, a 0* > r -5 -5 > r 0*");
}

TEST(test_nothing)
{
	expect("", NULL, "");
	expect("m a 0\n", NULL, "");
	expect("3\nm 2\n", NULL, "<Total> 3 > [no stack] 3 3 >  | <Total> 2 > m 2 2 > ");
}

/* Neighbours that are equal at the level are one frame, so a module never calls itself. */
TEST(test_modules)
{
	expect_at("a:main c:f c:g a:h c:k 3\na:main lone 4\n", LEVEL_MODULE, NULL,
		"a 4 > [unknown] 4 4 >  | a 3 > c 3 3 > a 0* | "
		"<Total> 4, c 3 > a 0 7 > [unknown] 4, c 3");
}

TEST(test_fragments)
{
	expect(worked, "B;C", "main 150 > B;C 30 150 > E 60, F 60");
	expect(worked, "main;B;C", "<Total> 150 > main;B;C 30 150 > E 60, F 60");
	/* The innermost of two runs that overlap. */
	expect("m f f f 4\nm f f x 2\n", "f;f", "f 4, m 2 > f;f 4 6 > x 2, f 0*");
	/* Not every g is behind an f. */
	expect("m f g h 1\nm g h 2\nm f x g 4\n", "f;g", "m 1 > f;g 0 1 > h 1");
	expect("a b a b a 8\n", "a;b;a", "b 8, <Total> 0* > a;b;a 8 8 > b 0*");
}

/* All of a name are one centre, two of which below each other are a recursion of it. */
TEST(test_united)
{
	static const char lines[] = "m one:f two:f x 2\nm two:f 1\n";

	expect(lines, "f", "f 2, m 1 > f 1 3 > x 2, f 0*");
	expect(lines, "one`f", "m 2 > f 0 2 > f 2");
	expect(lines, "two`f", "f 2, m 1 > f 1 3 > x 2");
	expect(lines, "one`f;two`f", "m 2 > f;f 0 2 > x 2");
}

static void expect_error(const char *lines, const char *centre, const char *expected)
{
	struct arena *arena = arena_create();
	struct profile *p = text_profile(lines);
	struct entity_tree *tree = entity_tree_of(p, LEVEL_FUNCTION, p->default_metric, arena);
	const struct centre *found = NULL;
	struct error *err = centre_find(tree, LEVEL_FUNCTION, str_from(centre), arena, &found);

	assert_non_null(err);
	assert_null(found);
	assert_string_equal(err->message, expected);
	error_destroy(err);
	profile_destroy(p);
	arena_destroy(arena);
}

TEST(test_not_there)
{
	expect_error("m parse 1\nm parser 1\nm x 1\n", "parze",
		"no stack holds a function 'parze'; did you mean 'parse' or 'parser'?");
	expect_error("m a 1\n", "quicksort", "no stack holds a function 'quicksort'");
	/* Not in a stack that has weight. */
	expect_error("m a 1\nm gone 0\n", "gone", "no stack holds a function 'gone'");
	expect_error("m one:f 1\nm two:f 1\n", "tow`f",
		"no stack holds a function 'tow`f'; did you mean 'two`f'?");
	expect_error("m a b 1\n", "b;a", "no stack holds 'b;a' one after another");
	expect_error("m a 1\n", "m;;a", "'m;;a' has a name that is empty");
	expect_error("m a 1\n", "", "'' has a name that is empty");
	expect_error("m a 1\n", "m;", "'m;' has a name that is empty");
}

/* As for other commands: without arguments or scope, where that is clear. */
TEST(test_names_in_short)
{
	expect("m x:json::parse(int) 1\n", "parse", "m 1 > json::parse(int) 1 1 > ");
	expect("m f(int) 1\nm f(char) 2\nm f 4\n", "f", "m 4 > f 4 4 > ");
	expect_error("m f(int) 1\nm f(char) 2\n", "f",
		"'f' may be 'f(int)' or 'f(char)'; write the name out");
	expect_error("m f(int) 1\n", "ff", "no stack holds a function 'ff'");
	expect_error("m sort(int) 1\n", "srot",
		"no stack holds a function 'srot'; did you mean 'sort'?");
}

/* Names with the very signs that part names. */
TEST(test_names_as_they_stand)
{
	expect("m f;g 1\nm f g 2\n", "f;g", "m 1 > f;g 1 1 > ");
	expect("m one`f 1\nm one:f 2\n", "one`f", "m 1 > one`f 1 1 > ");
}

TEST(test_run_of_all_places)
{
	struct strbuf line = {0}, centre = {0};

	for (int i = 0; i <= CENTRE_LENGTH_MAX; i++) {
		strbuf_printf(&line, "f ");
		strbuf_printf(&centre, "%sf", i ? ";" : "");
	}
	strbuf_printf(&line, "7\n");
	expect_error(line.data, centre.data, "more than 64 names");
	centre.data[centre.size - 2] = '\0';
	struct strbuf expected = {0};
	strbuf_printf(&expected, "f 7, <Total> 0* > %s 7 7 > f 0*", centre.data);
	expect(line.data, centre.data, expected.data);
	strbuf_deinit(&line);
	strbuf_deinit(&centre);
	strbuf_deinit(&expected);
}

/* A recursion a million deep, of a weight that sums along it would take out of 64 bits. */
TEST(test_million_deep)
{
	enum { DEEP = 1000000 };
	static const char *const names[] = {"a", "b", "c"};
	uint32_t *chain = xcalloc(DEEP, sizeof(*chain));
	struct arena *arena = arena_create();

	for (uint32_t i = 1; i < DEEP; i++)
		chain[i] = 1 + i % 2;
	struct profile *p = chain_profile(names, chain, DEEP, INT64_MAX / 2);
	struct entity_tree *tree = entity_tree_of(p, LEVEL_FUNCTION, p->default_metric, arena);
	struct callers *c = callers_analyse(tree, NULL, arena);
	struct strbuf text = {0}, expected = {0};
	put_rows(c, &text);
	strbuf_printf(&expected,
		"b %1$" PRId64 ", a 0* > c %1$" PRId64 " %1$" PRId64 " > b 0* | "
		"<Total> %1$" PRId64 " > a 0 %1$" PRId64 " > c %1$" PRId64 " | "
		"c %1$" PRId64 " > b 0 %1$" PRId64 " > c %1$" PRId64,
		(int64_t)(INT64_MAX / 2));
	assert_string_equal(text.data, expected.data);
	strbuf_deinit(&text);
	strbuf_deinit(&expected);
	profile_destroy(p);
	arena_destroy(arena);
	free(chain);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_worked_figure),
		cmocka_unit_test(test_recursion),
		cmocka_unit_test(test_mutual_recursion),
		cmocka_unit_test(test_innermost_only),
		cmocka_unit_test(test_partly_recursive),
		cmocka_unit_test(test_negative),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_modules),
		cmocka_unit_test(test_fragments),
		cmocka_unit_test(test_united),
		cmocka_unit_test(test_not_there),
		cmocka_unit_test(test_names_in_short),
		cmocka_unit_test(test_names_as_they_stand),
		cmocka_unit_test(test_run_of_all_places),
		cmocka_unit_test(test_million_deep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
