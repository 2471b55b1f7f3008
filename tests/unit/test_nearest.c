/*
 * Distances by hand, and which candidate is suggested.
 */

#include "base/nearest.h"

#include "base/compiler.h"
#include "../unit.h"

TEST(distances_count_edits)
{
	static const struct {
		const char *a, *b;
		size_t distance;
	} rows[] = {
		{"", "", 0},
		{"", "abc", 3},
		{"abc", "abc", 0},
		{"abc", "abd", 1},	  /* changed */
		{"abc", "abcd", 1},	  /* put in */
		{"abc", "ac", 1},	  /* left out */
		{"abcd", "acbd", 1},	  /* transposed */
		{"ab", "ba", 1},	  /* at both ends */
		{"ca", "abc", 3},	  /* no byte is touched twice */
		{"kitten", "sitting", 3}, /* Levenshtein's own */
		{"colapse", "collapse", 1},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct str a = str_from(rows[i].a), b = str_from(rows[i].b);

		assert_int_equal(nearest_distance(a, b), rows[i].distance);
		assert_int_equal(nearest_distance(b, a), rows[i].distance);
	}
}

static const char *suggest(const char *wanted)
{
	static const char *const names[] = {
		"record", "report", "run", "convert", "doctor", "--view"};
	struct nearest n;

	nearest_init(&n, str_from(wanted));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		nearest_offer(&n, str_from(names[i]));
	return n.best.size ? n.best.data : NULL;
}

TEST(slips_are_seen)
{
	assert_string_equal(suggest("reprot"), "report");
	assert_string_equal(suggest("recrod"), "record");
	assert_string_equal(suggest("rnu"), "run");
	assert_string_equal(suggest("docter"), "doctor");
	assert_string_equal(suggest("conv"), "convert"); /* not typed to its end */
	assert_string_equal(suggest("--veiw"), "--view");
}

TEST(other_words_are_not)
{
	assert_null(suggest("banana"));
	assert_null(suggest(""));
	assert_null(suggest("x"));
	assert_null(suggest("git"));
}

TEST(long_names_cost_nothing)
{
	static char name[1 << 20];

	for (size_t i = 0; i + 1 < sizeof(name); i++)
		name[i] = 'r';
	assert_null(suggest(name));
}

static void expect_few(const char *wanted, const char *expected)
{
	static const char *const names[] = {
		"parse", "parser", "parse", "sparse", "parse_all", "pause", "print", "x"};
	struct nearest_few n;
	struct strbuf out = {0};

	nearest_few_init(&n, str_from(wanted));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		nearest_few_offer(&n, str_from(names[i]));
	strbuf_add(&out, STR(""));
	nearest_few_put(&n, &out);
	assert_string_equal(out.data, expected);
	strbuf_deinit(&out);
}

TEST(suggests_several)
{
	expect_few("parze", "; did you mean 'parse', 'parser' or 'sparse'?");
	expect_few("parse_al", "; did you mean 'parse_all', 'parse' or 'parser'?");
	expect_few("printt", "; did you mean 'print'?");
	expect_few("sparze", "; did you mean 'sparse' or 'parse'?");
	expect_few("quite_another", "");
	expect_few("", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distances_count_edits),
		cmocka_unit_test(slips_are_seen),
		cmocka_unit_test(other_words_are_not),
		cmocka_unit_test(long_names_cost_nothing),
		cmocka_unit_test(suggests_several),
	};

	return cmocka_run_group_tests_name("nearest", tests, NULL, NULL);
}
