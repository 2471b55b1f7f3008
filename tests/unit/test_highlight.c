/*
 * Source text told apart for colours.  A line is written down as its spans, "k(int) x" for a
 * keyword and plain text.
 */

#include "../random_profile.h"
#include "../unit.h"
#include "view/text/highlight.h"

static const char letters[] = {[SOURCE_KEYWORD] = 'k',
	[SOURCE_STRING] = 's',
	[SOURCE_NUMBER] = 'n',
	[SOURCE_COMMENT] = 'c',
	[SOURCE_DIRECTIVE] = 'd'};

static void expect_next(struct highlight *h, const char *line, const char *expected)
{
	struct strbuf text = {0};
	size_t at = 0;

	highlight_line(h, str_from(line));
	strbuf_add(&text, STR(""));
	for (size_t i = 0; i < h->spans.count; i++) {
		struct syntax_span span = h->spans.data[i];

		if (span.syntax != SOURCE_PLAIN)
			strbuf_printf(&text, "%c(", letters[span.syntax]);
		strbuf_add(&text, (struct str){line + at, span.size});
		if (span.syntax != SOURCE_PLAIN)
			strbuf_add_char(&text, ')');
		at += span.size;
	}
	assert_string_equal(text.data ? text.data : "", expected);
	strbuf_deinit(&text);
}

static void expect(const char *line, const char *expected)
{
	struct highlight h = {0};

	expect_next(&h, line, expected);
	highlight_deinit(&h);
}

TEST(words)
{
	expect("int x = interval;", "k(int) x = interval;");
	expect("return_value(yield)", "return_value(k(yield))");
	expect("_Bool b; wchar_t w;", "k(_Bool) b; k(wchar_t) w;");
	expect("", "");
	expect("fn f<'a>(x: &'a str)", "k(fn) f<'a>(x: &'a str)");
}

TEST(numbers)
{
	expect("a1 + 0x1fUL-1e-5+.5", "a1 + n(0x1fUL)-n(1e-5)+n(.5)");
	expect("0xe+1", "n(0xe)+n(1)");
	expect("1'000'000;", "n(1'000'000);");
	expect("a.b", "a.b");
}

TEST(strings)
{
	expect("f(\"a\\\"b // no\", 'x')", "f(s(\"a\\\"b // no\"), s('x'))");
	expect("'\\'' '\\n'", "s('\\'') s('\\n')");
	expect("\"open", "s(\"open)");
	expect("\"ends in \\", "s(\"ends in \\)");
}

TEST(comments)
{
	struct highlight h = {0};

	expect("x; // int \"y\"", "x; c(// int \"y\")");
	expect("a /* b */ c", "a c(/* b */) c");
	expect("a /*/ b", "a c(/*/ b)");
	expect_next(&h, "a /* b", "a c(/* b)");
	expect_next(&h, "", "");
	expect_next(&h, "if */ if", "c(if */) k(if)");
	expect_next(&h, "if", "k(if)");
	highlight_deinit(&h);
}

TEST(directives)
{
	struct highlight h = {0};

	expect("#include <stdio.h>", "d(#include <stdio.h>)");
	expect(" # define S \"s\" /* c */", "d( # define S )s(\"s\")d( )c(/* c */)");
	expect("#[inline]", "#[k(inline)]");
	expect_next(&h, "#define x \\", "d(#define x \\)");
	expect_next(&h, "int y", "d(int y)");
	expect_next(&h, "int z", "k(int) z");
	highlight_deinit(&h);
}

/* Whatever the bytes, spans cover the line, each byte once. */
TEST(any_bytes)
{
	static const char alphabet[] = "\"'\\/*#0x.e+a \n\t\xff`(";
	struct random r = random_from(1);
	struct highlight h = {0};
	char line[40];

	for (int round = 0; round < 20000; round++) {
		size_t size = random_below(&r, sizeof(line)), sum = 0;

		for (size_t i = 0; i < size; i++)
			line[i] = alphabet[random_below(&r, sizeof(alphabet))];
		highlight_line(&h, (struct str){line, size});
		for (size_t i = 0; i < h.spans.count; i++) {
			assert_true(h.spans.data[i].size > 0);
			sum += h.spans.data[i].size;
		}
		assert_int_equal(sum, size);
	}
	highlight_deinit(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words),
		cmocka_unit_test(numbers),
		cmocka_unit_test(strings),
		cmocka_unit_test(comments),
		cmocka_unit_test(directives),
		cmocka_unit_test(any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
