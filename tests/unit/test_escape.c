/*
 * Escaping: what each rule makes of hostile names, and what holds for all bytes.
 */

#include "../random_profile.h"
#include "../unit.h"
#include "base/escape.h"

typedef void escape_function(struct strbuf *out, struct str s);

static void expect(escape_function *escape, struct str in, const char *wanted)
{
	struct strbuf out = {0};

	escape(&out, in);
	assert_string_equal(out.data ? out.data : "", wanted);
	strbuf_deinit(&out);
}

TEST(text)
{
	expect(escape_text, STR(""), "");
	expect(escape_text, STR("std::vector<int>::at(unsigned long)"),
		"std::vector<int>::at(unsigned long)");
	expect(escape_text, STR("caf\xc3\xa9 \xe4\xb8\xad \xf0\x9f\x98\x80"),
		"caf\xc3\xa9 \xe4\xb8\xad \xf0\x9f\x98\x80");
	expect(escape_text, STR("\033[31m\a\177"), "\\x1b[31m\\x07\\x7f");
	expect(escape_text, STR("a\0b"), "a\\x00b");
	expect(escape_text,
		STR("\xc2\x9b"
		    "0m"),
		"\\x9b0m");
	expect(escape_text, STR("\xe2\x80\xae\xe2\x80\x8b\xef\xbb\xbf"),
		"\\u{202e}\\u{200b}\\u{feff}");
	expect(escape_text, STR("\xf3\xa0\x81\x81"), "\\u{e0041}");
	/* Not UTF-8: a stray byte, overlong, a surrogate, cut off, beyond U+10FFFF. */
	expect(escape_text,
		STR("\xff"
		    "a"),
		"\xef\xbf\xbd"
		"a");
	expect(escape_text, STR("\xc0\xaf"), "\xef\xbf\xbd\xef\xbf\xbd");
	expect(escape_text, STR("\xed\xa0\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	expect(escape_text, STR("\xe2\x82"), "\xef\xbf\xbd\xef\xbf\xbd");
	expect(escape_text, STR("\xf4\x90\x80\x80"),
		"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}

TEST(json)
{
	expect(escape_json, STR("plain"), "plain");
	expect(escape_json, STR("\"a\\b\"\n\t\r\b\f\001\177"),
		"\\\"a\\\\b\\\"\\n\\t\\r\\b\\f\\u0001\\u007f");
	expect(escape_json, STR("\xe2\x80\xae\xc2\x9b"), "\\u202e\\u009b");
	expect(escape_json, STR("\xf3\xa0\x80\x81"), "\\udb40\\udc01");
	expect(escape_json, STR("\xff\xc3\xa9"), "\xef\xbf\xbd\xc3\xa9");
}

TEST(csv)
{
	expect(escape_csv, STR("main"), "main");
	expect(escape_csv, STR("a,b"), "\"a,b\"");
	expect(escape_csv, STR("say \"hi\""), "\"say \"\"hi\"\"\"");
	expect(escape_csv, STR("a\nb"), "a\\x0ab");
	expect(escape_csv, STR("=cmd()"), "'=cmd()");
	expect(escape_csv, STR("@x"), "'@x");
	expect(escape_csv, STR("+1,2"), "\"'+1,2\"");
	expect(escape_csv, STR("-12.5"), "-12.5");
	expect(escape_csv, STR("-"), "'-");
	expect(escape_csv, STR("-x"), "'-x");
	expect(escape_csv, STR(" x"), "\" x\"");
	expect(escape_csv, STR(""), "");
	expect(escape_csv, (struct str){"\0x", 2}, "\\x00x");
}

static void folded_name(struct strbuf *out, struct str name)
{
	escape_folded(out, name, STR("m"), false);
}

/* The name without module, where frames are to name theirs. */
static void folded_alone(struct strbuf *out, struct str name)
{
	escape_folded(out, name, STR(" "), true);
}

static void folded_both(struct strbuf *out, struct str name)
{
	escape_folded(out, name, STR("a`b"), true);
}

TEST(folded)
{
	expect(folded_name, STR("a;b"), "a\\x3bb");
	expect(folded_name, STR("a\r\nb"), "a\\x0d\\x0ab");
	expect(folded_name, STR("operator new(unsigned long)"), "operator new(unsigned long)");
	expect(folded_name, STR("a`b"), "a``b");
	expect(folded_name, STR("List`1[X]"), "List``1[X]");
	expect(folded_name, STR("\\x3b\\x41"), "\\x5cx3b\\x41");
	expect(folded_name, STR("  "), "\\x20 ");
	expect(folded_name, STR(""), "[unknown]");
	expect(folded_alone, STR("a`;"), "a``\\x3b");
	expect(folded_both, STR("a`;"), "a``b`a``\\x3b");
	expect(folded_both, STR("`a"), "a``b`\\x60a");
	expect(folded_both, STR(""), "a``b`[unknown]");
	expect(escape_folded_first, STR("#1"), "\\x231");
	expect(escape_folded_first, STR("a#"), "a#");
}

TEST(bytes)
{
	expect(escape_bytes, STR("a\"\\\n\xff\xc3\xa9"), "a\\\"\\\\\\x0a\\xff\xc3\xa9");
	expect(escape_bytes, STR("\xe2\x80\xae"), "\\xe2\\x80\\xae");
}

TEST(width)
{
	assert_int_equal(utf8_width(STR("abc")), 3);
	assert_int_equal(utf8_width(STR("e\xcc\x81")), 1);
	assert_int_equal(utf8_width(STR("\xe4\xb8\xad")), 2);
	assert_int_equal(utf8_width(STR("\033")), 4);
	assert_int_equal(utf8_width(STR("\xe2\x80\xae")), 8);
	assert_int_equal(utf8_width(STR("\xff")), 1);
}

/* Characters that no output may hold. */
static bool is_forbidden(int32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || (c >= 0x200b && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x2069) || c == 0xfeff;
}

static void assert_harmless(struct str s)
{
	while (s.size) {
		int32_t c;
		size_t length = utf8_decode(s, &c);
		/* c is -1, and so below 0x20, where this is not UTF-8. */
		assert_false(is_forbidden(c));
		s.data += length;
		s.size -= length;
	}
}

/* Bytes that are likely to be UTF-8, nearly UTF-8, or special. */
static size_t random_bytes(struct random *r, char *out, size_t most)
{
	static const char *const pieces[] = {"a", "main", ";", "\"", "\\", "\n", "\033[0m",
		"\xc2\x85", "\xe2\x80\xae", "\xe2\x80", "\xf0\x9f\x98\x80", "\xf0\x9f",
		"\xed\xa0\x80", "\xff", "\xc0\x80", ",", "=", "`", "\xef\xbb\xbf", "\xd8\x9c", "#"};
	size_t size = 0;

	for (uint32_t i = random_below(r, 12); i > 0; i--) {
		const char *piece = pieces[random_below(r, ARRAY_SIZE(pieces))];
		char any = (char)random_next(r);
		struct str add = random_below(r, 3) ? str_from(piece) : (struct str){&any, 1};
		if (size + add.size > most)
			break;
		memcpy(out + size, add.data, add.size);
		size += add.size;
	}
	return size;
}

TEST(all_output_is_harmless)
{
	escape_function *const functions[] = {
		escape_text, escape_json, escape_csv, folded_name, escape_bytes};
	struct random r = random_from(1);
	struct strbuf out = {0}, again = {0};
	char in[64];

	for (int i = 0; i < 20000; i++) {
		struct str s = {in, random_bytes(&r, in, sizeof(in))};
		for (size_t f = 0; f < ARRAY_SIZE(functions); f++) {
			strbuf_clear(&out);
			functions[f](&out, s);
			assert_harmless(strbuf_str(&out));
		}
		strbuf_clear(&out);
		escape_text(&out, s);
		strbuf_clear(&again);
		escape_text(&again, strbuf_str(&out));
		assert_true(str_equal(strbuf_str(&out), strbuf_str(&again)));
		assert_int_equal(utf8_width(s), utf8_width(strbuf_str(&out)));
		strbuf_clear(&out);
		folded_both(&out, s);
		assert_null(memchr(strbuf_str(&out).data, ';', out.size));
	}
	strbuf_deinit(&out);
	strbuf_deinit(&again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text),
		cmocka_unit_test(json),
		cmocka_unit_test(csv),
		cmocka_unit_test(folded),
		cmocka_unit_test(bytes),
		cmocka_unit_test(width),
		cmocka_unit_test(all_output_is_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
