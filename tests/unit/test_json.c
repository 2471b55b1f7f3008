/*
 * JSON, both ends, and the decimal numbers in it: RFC 8259 by hand, what files that were cut off or
 * damaged do, and that what is written reads as what it was.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/decimal.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "../json_text.h"
#include "../unit.h"

/* Takes every value there is; how many. */
static size_t take_all(struct json_reader *r)
{
	size_t count = 0, depth = 0;
	struct str s;
	int64_t n;
	bool flag;

	do {
		if (depth && !(r->is_object[(depth - 1) / 64] >> (depth - 1) % 64 & 1
					     ? json_key(r, &s)
					     : json_element(r))) {
			depth--;
			continue;
		}
		count++;
		switch (json_peek(r)) {
		case JSON_OBJECT:
			depth += json_object(r);
			break;
		case JSON_ARRAY:
			depth += json_array(r);
			break;
		case JSON_STRING:
			json_string(r, &s);
			break;
		case JSON_NUMBER:
			json_decimal(r, 3, &n);
			break;
		case JSON_BOOL:
			json_bool(r, &flag);
			break;
		case JSON_NULL:
		case JSON_NONE:
		default:
			json_skip(r);
		}
	} while (depth && json_ok(r));
	return count;
}

static void expect_fault(struct str text, size_t offset, bool is_cut, const char *part)
{
	struct text t;
	struct json_reader *r = begin_sized(&t, text);

	take_all(r);
	struct error *err = json_error(r);
	assert_non_null(err);
	if (strstr(err->message, part) == NULL)
		fail_msg("wanted '%s', got '%s'", part, err->message);
	assert_int_equal((size_t)(r->bad - r->start), offset);
	assert_int_equal(json_is_cut(r), is_cut);
	error_destroy(err);
	end(&t);
}

TEST(test_values)
{
	struct text t;
	struct json_reader *r =
		begin(&t, "\xef\xbb\xbf { \"a\" : [ 1 , -2.5e1, true,false , null,\"x\" ] ,\n"
			  "\t\"b\":{}, \"c\":[], \"\\u00e4\": 9223372036854775807 } ");
	struct str s;
	int64_t n;
	double d;
	bool flag;

	assert_true(json_object(r) && json_key(r, &s) && str_equal(s, STR("a")));
	assert_true(json_array(r));
	assert_true(json_element(r) && json_int(r, &n) && n == 1);
	assert_true(json_element(r) && json_double(r, &d) && d == -25.0);
	assert_true(json_element(r) && json_bool(r, &flag) && flag);
	assert_true(json_element(r) && json_bool(r, &flag) && !flag);
	assert_true(json_element(r) && json_peek(r) == JSON_NULL);
	assert_true(json_element(r) && json_string(r, &s) && str_equal(s, STR("x")));
	assert_false(json_element(r));
	assert_true(json_key(r, &s) && json_object(r) && !json_key(r, &s));
	assert_true(json_key(r, &s) && json_array(r) && !json_element(r));
	assert_true(json_key(r, &s) && str_equal(s, STR("\xc3\xa4")));
	assert_true(json_int(r, &n) && n == INT64_MAX);
	assert_false(json_key(r, &s));
	assert_null(json_error(r));
	assert_int_equal(r->depth, 0);
	end(&t);
}

TEST(test_other_kinds_are_skipped)
{
	struct text t;
	struct json_reader *r =
		begin(&t, "[\"7\", {\"x\":[1,{\"]\":\"}\"}]}, [2], \"x7\", 12, true, 5]");
	struct str s;
	int64_t n = 0;
	bool flag;

	assert_true(json_array(r));
	assert_true(json_element(r) && json_int(r, &n) && n == 7); /* a number in a string */
	assert_true(json_element(r) && !json_int(r, &n));
	assert_true(json_element(r) && !json_object(r));
	assert_true(json_element(r) && !json_int(r, &n) && n == 7);
	assert_true(json_element(r) && !json_string(r, &s));
	assert_true(json_element(r) && !json_array(r));
	assert_true(json_element(r) && !json_bool(r, &flag));
	assert_false(json_element(r));
	assert_null(json_error(r));
	end(&t);
}

TEST(test_leave_and_return)
{
	struct text t;
	struct json_reader *r = begin(&t, "{\"a\":{\"b\":[1,[2,3],4],\"c\":5},\"d\":6}");
	struct str s;
	int64_t n;

	assert_true(json_object(r) && json_key(r, &s));
	struct json_mark mark = json_mark(r);
	for (unsigned int i = 0; i < 2; i++) {
		assert_true(json_object(r) && json_key(r, &s) && json_array(r));
		assert_true(json_element(r) && json_int(r, &n) && n == 1);
		json_leave(r);
		assert_true(json_key(r, &s) && str_equal(s, STR("c")));
		json_leave(r);
		assert_true(json_key(r, &s) && str_equal(s, STR("d")));
		assert_true(json_int(r, &n) && n == 6 && !json_key(r, &s));
		json_fail(r, "a fault of the caller's");
		assert_non_null(r->bad);
		json_return(r, &mark);
		assert_true(json_ok(r));
	}
	end(&t);
}

static void expect_text(const char *json, struct str wanted)
{
	struct text t;
	struct json_reader *r = begin(&t, json);
	struct str s;

	if (!json_string(r, &s))
		fail_msg("%s", r->problem);
	assert_int_equal(s.size, wanted.size);
	assert_memory_equal(s.data, wanted.data, s.size);
	end(&t);
}

TEST(test_strings)
{
	expect_text("\"\"", STR(""));
	expect_text("\"a long one without any escape\"", STR("a long one without any escape"));
	expect_text("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", STR("\"\\/\b\f\n\r\t"));
	expect_text("\"0123456\\n89abcdef\\u20AC\"", STR("0123456\n89abcdef\xe2\x82\xac"));
	expect_text("\"\\u0000x\"", STR("\0x"));
	expect_text("\"\\ud83d\\ude00\"", STR("\xf0\x9f\x98\x80"));
	/* Surrogates without their other half. */
	expect_text("\"\\ud83d\"", STR("\xef\xbf\xbd"));
	expect_text("\"\\ude00\\ud83d\"", STR("\xef\xbf\xbd\xef\xbf\xbd"));
	expect_text("\"\\ud83d\\u0041\"", STR("\xef\xbf\xbd"
					      "A"));
	/* What JSON forbids and some writers write: control characters; bytes that are no UTF-8. */
	expect_text("\"a\nb\\tc\x01\"", STR("a\nb\tc\x01"));
	expect_text("\"\xff\xfe\"", STR("\xff\xfe"));
}

TEST(test_faults)
{
	expect_fault(STR(""), 0, true, "truncated");
	expect_fault(STR("  "), 2, true, "truncated");
	expect_fault(STR("[1,"), 3, true, "test.json: at byte 3");
	expect_fault(STR("[1"), 2, true, "truncated");
	expect_fault(STR("{\"a\""), 4, true, "truncated");
	expect_fault(STR("\"abc"), 4, true, "truncated");
	expect_fault(STR("\"abc\\"), 5, true, "truncated");
	expect_fault(STR("\"abc\\u12"), 8, true, "truncated");
	expect_fault(STR("tru"), 3, true, "truncated");
	expect_fault(STR("[-"), 2, true, "truncated");
	expect_fault(STR("[1 2]"), 3, false, "neither ',' nor ']'");
	expect_fault(STR("{\"a\":1 \"b\":2}"), 7, false, "neither ',' nor '}'");
	expect_fault(STR("[1,]"), 3, false, "a comma, and nothing");
	expect_fault(STR("[,1]"), 1, false, "no JSON value");
	expect_fault(STR("{a:1}"), 1, false, "a name should");
	expect_fault(STR("{\"a\" 1}"), 5, false, "no ':'");
	expect_fault(STR("[1}"), 2, false, "neither");
	expect_fault(STR("[nul1]"), 1, false, "no JSON value");
	expect_fault(STR("[-x]"), 1, false, "begins no number");
	expect_fault(STR("\"\\q\""), 2, false, "escape");
	expect_fault(STR("\"\\u12x4\""), 2, false, "hexadecimal");
	expect_fault(STR("[1\0,2]"), 2, false, "a NUL byte");
	expect_fault(STR("[\0"), 1, false, "a NUL byte");
	expect_fault(STR("{\"a\":\0}"), 5, false, "a NUL byte");
}

/* Deeper nesting than any stack holds is skipped, and asked for is a fault. */
TEST(test_depth)
{
	enum { DEEP = 1000000 };
	struct strbuf deep = {0};
	struct text t;
	int64_t n;

	strbuf_add(&deep, STR("[[7,"));
	for (size_t i = 0; i < DEEP; i++)
		strbuf_add_char(&deep, '[');
	for (size_t i = 0; i < DEEP; i++)
		strbuf_add_char(&deep, ']');
	strbuf_add(&deep, STR("],8]"));
	struct json_reader *r = begin_sized(&t, strbuf_str(&deep));
	assert_true(json_array(r) && json_element(r) && json_array(r) && json_element(r));
	json_leave(r);
	assert_true(json_element(r) && json_int(r, &n) && n == 8 && !json_element(r));
	assert_true(json_ok(r));
	end(&t);
	expect_fault(strbuf_str(&deep), 3 + JSON_DEPTH_MAX - 1, false, "nested too deeply");
	strbuf_deinit(&deep);
}

/* A text cut anywhere: a fault at its end, or none where nothing is missed; never a read outside.
 */
TEST(test_cut_anywhere)
{
	static const char whole[] = "{\"a\\u00e4\\n\":[1,-2.5e3,\"x\\ud83d\\ude00\",true,null,{}],"
				    "\"b\":{\"c\":[[false]]}}";
	struct text t;

	for (size_t size = 0; size < sizeof(whole) - 1; size++) {
		struct json_reader *r = begin_sized(&t, (struct str){whole, size});
		take_all(r);
		assert_false(json_ok(r));
		end(&t);
		r = begin_sized(&t, (struct str){whole, size});
		json_skip(r);
		assert_false(json_ok(r));
		assert_true(json_is_cut(r));
		end(&t);
	}
	struct json_reader *r = begin(&t, whole);
	assert_int_equal(take_all(r), 12);
	assert_true(json_ok(r));
	end(&t);
}

TEST(test_writer)
{
	struct strbuf out = {0};
	struct json_writer w = json_writer(&out);

	json_put_object(&w);
	json_put_key(&w, "a"), json_put_array(&w);
	json_put_int(&w, INT64_MIN), json_put_unsigned(&w, UINT64_MAX), json_put_int(&w, 0);
	json_put_decimal(&w, 1234567, 3), json_put_decimal(&w, -50, 3), json_put_decimal(&w, 0, 9);
	json_put_decimal(&w, INT64_MIN, 18), json_put_decimal(&w, 7000, 3);
	json_put_bool(&w, true), json_put_bool(&w, false), json_put_null(&w);
	json_put_string(&w, STR("\"\\\n\x01\xff\xc3\xa4"));
	json_put_array(&w), json_put_end(&w), json_put_object(&w), json_put_end(&w);
	json_put_end(&w);
	json_put_line(&w);
	json_put_key_str(&w, STR("k\"\n")), json_put_int(&w, 1);
	json_put_end(&w);
	assert_string_equal(out.data,
		"{\"a\":[-9223372036854775808,18446744073709551615,0,1234.567,-0.05,0,"
		"-9.223372036854775808,7,true,false,null,"
		"\"\\\"\\\\\\n\\u0001\xef\xbf\xbd\xc3\xa4\","
		"[],{}],\n\"k\\\"\\n\":1}");
	struct text t;
	struct json_reader *r = begin_sized(&t, strbuf_str(&out));
	assert_int_equal(take_all(r), 17);
	assert_true(json_ok(r));
	end(&t);
	strbuf_deinit(&out);
}

/* Where a value of strings, escapes and brackets ends, told byte by byte. */
static size_t end_byte_by_byte(const char *text)
{
	size_t depth = 0, i = 0;
	bool in_string = false;

	do {
		char c = text[i++];
		if (in_string && c == '\\')
			i++;
		else if (c == '"')
			in_string = !in_string;
		else if (!in_string && (c == '[' || c == '{'))
			depth++;
		else if (!in_string && (c == ']' || c == '}'))
			depth--;
	} while (depth || in_string);
	return i;
}

/* Text of some 400 bytes at most, full of what makes skipping hard: quotes, backslashes, brackets
 * in and out of strings, at any place of the 64 bytes that are looked at together. */
static void add_random_value(struct strbuf *out, uint64_t *state, unsigned int depth)
{
	static const char *const parts[] = {"[", "}", "\\\\", "\\\"", "Yy_\177", "{]", " ", "a"};

	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
	unsigned int chance = (unsigned int)(*state >> 60);
	if (chance < 6 || depth == 4) {
		strbuf_add_char(out, '"');
		for (uint64_t bits = *state >> 8 & 0xffffff; bits > 7; bits >>= 3)
			strbuf_add(out, str_from(parts[bits & 7]));
		strbuf_add_char(out, '"');
		return;
	}
	strbuf_add_char(out, chance & 1 ? '[' : '{');
	for (unsigned int i = 0; i < chance % 4; i++) {
		if (i)
			strbuf_add_char(out, ',');
		if (!(chance & 1))
			strbuf_add(out, STR("\"\\\\\": "));
		add_random_value(out, state, depth + 1);
	}
	strbuf_add_char(out, chance & 1 ? ']' : '}');
}

TEST(test_random_skips)
{
	uint64_t random = 42;

	for (unsigned int i = 0; i < 20000; i++) {
		struct strbuf text = {0};
		struct text t;
		strbuf_add_char(&text, '[');
		add_random_value(&text, &random, 0);
		strbuf_add_char(&text, ']');
		size_t wanted = end_byte_by_byte(text.data);
		strbuf_add(&text, STR(" 7"));
		struct json_reader *r = begin_sized(&t, strbuf_str(&text));
		json_skip(r);
		assert_true(json_ok(r));
		assert_int_equal(json_offset(r), wanted);
		end(&t);
		r = begin_sized(&t, (struct str){text.data, wanted - 1});
		json_skip(r);
		assert_true(json_is_cut(r));
		end(&t);
		strbuf_deinit(&text);
	}
}

/* A place as a number, and brackets of all kinds skipped at all distances from each other. */
TEST(test_places_and_skips)
{
	struct strbuf text = {0};
	struct json_reader r;
	int64_t value;

	for (size_t i = 0; i < 40; i++) {
		strbuf_clear(&text);
		strbuf_add(&text, STR("[{\"a\":[1,\"]}\\\"\",{"));
		for (size_t k = 0; k < i; k++)
			strbuf_add_char(&text, k % 3 ? ' ' : '1');
		strbuf_add(&text, STR("\"y_Y\":[[]]}]},7]"));
		json_reader_init(&r, text.data, text.size, "test");
		assert_true(json_array(&r) && json_element(&r));
		size_t first = json_offset(&r);
		json_skip(&r);
		assert_true(json_element(&r) && json_int(&r, &value));
		assert_int_equal(value, 7);
		json_seek(&r, first);
		assert_true(json_object(&r));
		json_leave(&r);
		assert_true(json_ok(&r));
		assert_int_equal(text.data[json_offset(&r)], ',');
		json_reader_deinit(&r);
	}
	strbuf_deinit(&text);
}

/* {"xx…x":"xx…x"}, with `last` at the end of name and text, and blanks between. */
static void expect_member(size_t size, const char *last, const char *wanted, const char *blank)
{
	char letters[64];
	struct strbuf json = {0};
	struct text t;
	struct str key, text, end_of_text = str_from(wanted);

	memset(letters, 'x', sizeof(letters));
	for (int i = 0; i < 2; i++)
		strbuf_printf(&json, "%c%s\"%.*s%s\"%s:%s\"%.*s%s\"%s", i ? ',' : '{', blank,
			(int)size, letters, last, blank, blank, (int)size, letters, last, blank);
	strbuf_add_char(&json, '}');
	struct json_reader *r = begin_sized(&t, strbuf_str(&json));
	assert_true(json_object(r));
	for (int i = 0; i < 2; i++) {
		assert_true(json_key(r, &key) && json_string(r, &text));
		assert_int_equal(key.size, size + end_of_text.size);
		assert_true(str_equal(key, text));
		assert_memory_equal(text.data, letters, size);
		assert_memory_equal(text.data + size, wanted, end_of_text.size);
	}
	assert_false(json_key(r, &key));
	assert_true(json_ok(r));
	end(&t);
	strbuf_deinit(&json);
}

/* Names and texts of all lengths around those that are compared at once, at the input's end and
 * not. */
TEST(test_string_lengths)
{
	static const char *const blanks[] = {"", " ", "\n", "\n  ", "\t"};

	for (size_t size = 0; size < 40; size++)
		for (size_t i = 0; i < ARRAY_SIZE(blanks); i++) {
			expect_member(size, "", "", blanks[i]);
			expect_member(size, "\\n", "\n", blanks[i]);
			expect_member(size, "\\\"", "\"", blanks[i]);
			expect_member(size, "\t", "\t", blanks[i]);
		}
}

/* A value of about that size, with brackets in strings and an escape where they may be cut in two;
 * its end comes byte by byte. */
static size_t add_long_value(struct strbuf *text, size_t size)
{
	size_t begin = text->size;

	strbuf_add(text, STR("[[\"]"));
	while (text->size - begin < size)
		strbuf_add_char(text, '[');
	strbuf_add(text, STR("\\\"]\"],{\"a\":[1,2]}]"));
	return begin + end_byte_by_byte(text->data + begin);
}

/* What was skipped once ends there the second time, too, at whatever sizes that is remembered;
 * so does what is within it. */
TEST(test_long_values_twice)
{
	struct json_reader r;

	for (size_t size = 3900; size < 4300; size++) {
		struct strbuf text = {0};
		strbuf_add(&text, STR("[["));
		size_t first = add_long_value(&text, size);
		strbuf_add_char(&text, ',');
		size_t second = add_long_value(&text, size * 3);
		strbuf_add(&text, STR("],7]"));
		json_reader_init(&r, text.data, text.size, "test");
		for (int pass = 0; pass < 3; pass++) {
			json_seek(&r, 1);
			json_skip(&r);
			assert_int_equal(json_offset(&r), second + 1);
			json_seek(&r, 2);
			json_skip(&r);
			assert_int_equal(json_offset(&r), first);
			json_seek(&r, first + 1);
			json_skip(&r);
			assert_int_equal(json_offset(&r), second);
			assert_true(json_ok(&r));
		}
		json_reader_deinit(&r);
		strbuf_deinit(&text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_skips),
		cmocka_unit_test(test_places_and_skips),
		cmocka_unit_test(test_long_values_twice),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_other_kinds_are_skipped),
		cmocka_unit_test(test_leave_and_return),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_string_lengths),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_cut_anywhere),
		cmocka_unit_test(test_writer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
