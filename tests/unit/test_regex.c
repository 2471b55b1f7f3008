/*
 * Regular expressions: what matches whole and anywhere, what is none, and that neither memory nor
 * time grows with what a pattern asks for.
 */
#include <string.h>

#include "base/compiler.h"
#include "base/regex.h"
#include "../unit.h"

static bool matches(const char *pattern, const char *text)
{
	struct regex *r = NULL;
	uint64_t work = 1 << 20;
	struct error *err = regex_create(str_from(pattern), REGEX_WHOLE, &r);

	if (err)
		fail_msg("%s: %s", pattern, err->message);
	enum regex_verdict verdict = regex_match(r, str_from(text), &work);
	regex_destroy(r);
	assert_true(verdict != REGEX_GAVE_UP && work > 0);
	return verdict == REGEX_YES;
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
	{"\\p{Greek}+", {"\xce\xb1\xce\xb2"}, {"ab"}},
	{"(?i)\xc3\xa9", {"\xc3\x89"}, {"e"}},
};

TEST(matches_whole_texts)
{
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

TEST(finds_anywhere)
{
	struct regex *r;
	uint64_t work = 1 << 20;

	assert_null(regex_create(STR("b.d|^x$"), REGEX_ANYWHERE, &r));
	assert_int_equal(regex_match(r, STR("abcde"), &work), REGEX_YES);
	assert_int_equal(regex_match(r, STR("abde"), &work), REGEX_NO);
	assert_int_equal(regex_match(r, STR("x"), &work), REGEX_YES);
	assert_int_equal(regex_match(r, STR("x\n"), &work), REGEX_NO);
	assert_int_equal(regex_match(r, (struct str){0}, &work), REGEX_NO);
	/* Around what is no UTF-8, and not over it. */
	assert_int_equal(regex_match(r, STR("\xff\xfe bcd"), &work), REGEX_YES);
	assert_int_equal(regex_match(r,
				 STR("b\xff"
				     "d"),
				 &work),
		REGEX_NO);
	regex_destroy(r);
}

TEST(refuses)
{
	static const char *const none[] = {"(", ")", "a)", "[a", "[b-a]", "*", "a|*", "a{2}{3}*+?*",
		"\\", "\\1", "\\y", "x{2,1}", "x{65536}", "(?z)", "(?P<a", "\\x{110000}", "\xff",
		"((((x{50}){50}){50}){50})", "\\C"};
	struct regex *r;

	for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
		struct error *err = regex_create(str_from(none[i]), REGEX_ANYWHERE, &r);

		if (err == NULL)
			fail_msg("%s is taken", none[i]);
		assert_int_equal(err->kind, ERROR_INPUT);
		assert_non_null(strstr(err->message, none[i]));
		error_destroy(err);
	}
}

/* One that is longer than any that has a meaning. */
TEST(refuses_long_ones)
{
	static char text[1 << 20];
	struct regex *r;

	memset(text, 'a', sizeof(text) - 1);
	struct error *err = regex_create(str_from(text), REGEX_ANYWHERE, &r);

	assert_non_null(err);
	error_destroy(err);
	memset(text, '(', 5000);
	text[5000] = '\0';
	err = regex_create(str_from(text), REGEX_ANYWHERE, &r);
	assert_non_null(err);
	error_destroy(err);
}

/* What would take for ever takes as many steps as it is given. */
TEST(work_is_bounded)
{
	static const char *const patterns[] = {
		"(a?){500}(a*)*b", "(a+)+b", "(a|a)*b", "(a*)*(a*)*b"};
	static char text[100001];

	memset(text, 'a', sizeof(text) - 1);
	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		struct regex *r = NULL;
		uint64_t work = 1000000;
		char tail[64];

		memset(tail, 'a', sizeof(tail) - 2);
		tail[sizeof(tail) - 2] = 'c';
		tail[sizeof(tail) - 1] = '\0';
		strcpy(text + sizeof(text) - sizeof(tail), tail);
		assert_null(regex_create(str_from(patterns[i]), REGEX_WHOLE, &r));
		assert_int_equal(regex_match(r, str_from(text), &work), REGEX_GAVE_UP);
		assert_int_equal(work, 0);
		assert_int_equal(regex_match(r, STR("b"), &work), REGEX_GAVE_UP);
		regex_destroy(r);
	}
}

/* Many short texts take time, too: what is got ready for each is paid for. */
TEST(getting_ready_is_paid_for)
{
	struct regex *r = NULL;
	uint64_t work = 100000;
	int texts = 0;

	assert_null(regex_create(STR("(abc){1000}"), REGEX_WHOLE, &r));
	for (; work && texts < 1000; texts++)
		assert_true(regex_match(r, STR("x"), &work) != REGEX_YES);
	assert_in_range(texts, 50, 500);
	regex_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(matches_whole_texts),
		cmocka_unit_test(finds_anywhere),
		cmocka_unit_test(refuses),
		cmocka_unit_test(refuses_long_ones),
		cmocka_unit_test(work_is_bounded),
		cmocka_unit_test(getting_ready_is_paid_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
