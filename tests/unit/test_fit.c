/*
 * Names cut to a width.
 */
#include <stdio.h>

#include "base/escape.h"
#include "view/text/fit.h"
#include "../unit.h"

static void expect(const char *name, size_t width, const char *expected)
{
	struct strbuf out = {0};

	fit_text(&out, str_from(name), width, true);
	assert_string_equal(out.data, expected);
	strbuf_deinit(&out);
}

TEST(what_fits_stays)
{
	expect("main", 4, "main");
	expect("f(int, int)", 11, "f(int, int)");
}

TEST(arguments_go_first)
{
	expect("f(int, int)", 10, "f(…)");
	expect("a::f(std::pair<int, int>, long) const", 20, "a::f(…) const");
	expect("std::map<int, char>::at(int const&)", 24, "std::map<…>::at(…)");
	expect("nothing_to_drop()::lambda", 20, "nothing_t…()::lambda");
}

TEST(operators_are_not_brackets)
{
	expect("operator<< <int>(std::ostream&)", 18, "operator<< <…>(…)");
	expect("x::operator()(int, int) const", 26, "x::operator()(…) const");
	expect("x::operator->(int, int) const", 26, "x::operator->(…) const");
	expect("operator<=> <int>(int, int)", 19, "operator<=> <…>(…)");
}

TEST(unbalanced_brackets_are_text)
{
	expect("a)b(c)d(e_and_more_and_more", 11, "a)b(c…_more");
	expect("((((((((((((((((", 5, "((…((");
}

TEST(the_middle_goes_last)
{
	expect("a_long_name_that_ends", 9, "a_lo…ends");
	expect("a_long_name_that_ends", 8, "a_l…ends");
	expect("日本語の長い名前です", 9, "日本…です");
	expect("abcdef", 1, "…");
	expect("abcdef", 0, "…");
}

TEST(ascii_has_two_dots)
{
	struct strbuf out = {0};

	fit_text(&out, STR("a_long_name_that_ends"), 10, false);
	assert_string_equal(out.data, "a_lo..ends");
	strbuf_deinit(&out);
}

/* Any name at any width: never wider than asked, as long as a dot fits. */
TEST(never_too_wide)
{
	static const char *const names[] = {"std::vector<int>::push_back(int&&)", "日本(語)<x>",
		"<<<>>>((()))", "a b c d e f g", "operator()()", "…………………", ")(", "e\xcc\x81(x)y"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		for (size_t width = 1; width < 40; width++) {
			struct strbuf out = {0};

			fit_text(&out, str_from(names[i]), width, true);
			assert_true(utf8_width(strbuf_str(&out)) <= width);
			strbuf_deinit(&out);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_fits_stays),
		cmocka_unit_test(arguments_go_first),
		cmocka_unit_test(operators_are_not_brackets),
		cmocka_unit_test(unbalanced_brackets_are_text),
		cmocka_unit_test(the_middle_goes_last),
		cmocka_unit_test(ascii_has_two_dots),
		cmocka_unit_test(never_too_wide),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
