/*
 * Regular expressions of RE2's syntax: what matches whole, what is none, what is not supported, and
 * that neither memory nor time grows with what a pattern asks for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/compiler.h"
#include "base/regex.h"

static bool matches(const char *pattern, const char *text)
{
	struct regex *r = NULL;
	uint64_t work = 1 << 20;
	struct error *err = regex_create(str_from(pattern), &r);

	if (err)
		fail_msg("%s: %s", pattern, err->message);
	bool result = regex_matches(r, str_from(text), &work);
	regex_destroy(r);
	return result;
}

static const struct {
	const char *pattern, *yes[6], *no[6];
} cases[] = {
	{"", {""}, {"a"}},
	{"abc", {"abc"}, {"ab", "abcd", "xabc", ""}},
	{"a|bc|", {"a", "bc", ""}, {"ab", "c"}},
	{"fu.*[12]|banana", {"fun1", "fu2", "banana"}, {"fun3", "bananas", "fun"}},
	{"a*b+c?", {"b", "aabbc", "bc"}, {"a", "ac", "bcc"}},
	{"a*?b+?c??", {"b", "aabbc", "bc"}, {"a", "ac", "bcc"}},
	{"(ab)*", {"", "ab", "abab"}, {"a", "aba"}},
	{"(a*)*", {"", "aaa"}, {"b", "aab"}},
	{"(?:)*a(?:)+", {"a"}, {"", "aa"}},
	{"(a|b*)+c", {"c", "abbac"}, {"ab", "cc"}},
	{"x{2}", {"xx"}, {"x", "xxx"}},
	{"x{2,}", {"xx", "xxxx"}, {"x", ""}},
	{"x{1,3}y", {"xy", "xxxy"}, {"y", "xxxxy"}},
	{"x{0}y", {"y"}, {"xy"}},
	{"(ab|c){2}", {"abc", "cc", "abab", "cab"}, {"ab", "ccc"}},
	{"x{,3}", {"x{,3}"}, {"x", "xxx"}},
	{"[a-c]", {"a", "c"}, {"d", "", "-"}},
	{"[^a-c\\d]", {"d", "\xc3\xa9"}, {"b", "7"}},
	{"[]a-]", {"]", "a", "-"}, {"b"}},
	{"[[:alpha:]_][[:^alpha:]]", {"a1", "_1"}, {"aa", "11"}},
	{"[\\w.]+", {"runtime.main_1"}, {"a b"}},
	{"\\d\\D\\s\\S\\W", {"1a b."}, {"aa b.", "11 b."}},
	{"runtime\\..*", {"runtime.main", "runtime."}, {"runtimexmain"}},
	{"operator new(\\[\\])?", {"operator new", "operator new[]"}, {"operator new["}},
	{"\\Qa.b(\\Ec", {"a.b(c"}, {"axb(c"}},
	{"\\x41\\x{42}|\\011", {"AB", "\t"}, {"A"}},
	{"(?i)abC[d-e]", {"ABCD", "abce"}, {"abcf"}},
	{"(?i:a)b", {"Ab", "ab"}, {"aB"}},
	{"(?P<name>a)(?:b)", {"ab"}, {"a"}},
	{"a.c",
		{"abc", "a\xc3\xa9"
			"c"},
		{"a\nc", "ac"}},
	{"(?s)a.c", {"a\nc"}, {"ac"}},
	{"^a$", {"a"}, {"aa"}},
	{"a\\b-b\\B", {}, {"a-b", "a-bc"}},
	{"\\ba\\b.\\bb\\b", {"a b"}, {"a_b", "aab"}},
	{"{a}", {"{a}"}, {"a"}},
};

static void matches_whole_texts(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *pattern = cases[i].pattern;
		for (size_t k = 0; k < 6 && cases[i].yes[k]; k++)
			if (!matches(pattern, cases[i].yes[k]))
				fail_msg("%s does not match '%s'", pattern, cases[i].yes[k]);
		for (size_t k = 0; k < 6 && cases[i].no[k]; k++)
			if (matches(pattern, cases[i].no[k]))
				fail_msg("%s matches '%s'", pattern, cases[i].no[k]);
	}
}

static enum error_kind refusal(const char *pattern)
{
	struct regex *r = NULL;
	struct error *err = regex_create(str_from(pattern), &r);

	if (err == NULL)
		fail_msg("%s is taken", pattern);
	enum error_kind kind = err->kind;
	error_destroy(err);
	return kind;
}

static void refuses(void **state)
{
	static const char *const none[] = {"(", ")", "a)", "[a", "[b-a]", "*", "a**", "a|*",
		"a(?i)*", "a{2}{3}", "\\", "\\1", "\\z\\y", "x{2,1}", "x{1001}", "(?z)", "(?P<a",
		"\\x{110000}", "\xff"};
	static const char *const other[] = {"\\pL", "[\\p{Greek}]", "(?m)^a", "(?i)\xc3\xa9",
		"((((x{50}){50}){50}){50})", "\\C"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(none); i++)
		assert_int_equal(refusal(none[i]), ERROR_INPUT);
	for (size_t i = 0; i < ARRAY_SIZE(other); i++)
		assert_int_equal(refusal(other[i]), ERROR_UNSUPPORTED);
}

/* What takes others for ever: here it takes as many steps as it is given. */
static void work_is_bounded(void **state)
{
	struct regex *r = NULL;
	uint64_t work = 100000;
	static char text[100001];

	(void)state;
	memset(text, 'a', sizeof(text) - 1);
	assert_null(regex_create(STR("(a?){500}(a*)*b"), &r));
	assert_false(regex_matches(r, str_from(text), &work));
	assert_int_equal(work, 0);
	regex_destroy(r);
}

/* Many short texts take time, too: what is got ready for each is paid for. */
static void getting_ready_is_paid_for(void **state)
{
	struct regex *r = NULL;
	uint64_t work = 100000;
	int texts = 0;

	(void)state;
	assert_null(regex_create(STR("(abc){1000}"), &r));
	for (; work && texts < 1000; texts++)
		assert_false(regex_matches(r, STR("x"), &work));
	assert_in_range(texts, 50, 100);
	regex_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(matches_whole_texts),
		cmocka_unit_test(refuses),
		cmocka_unit_test(work_is_bounded),
		cmocka_unit_test(getting_ready_is_paid_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
