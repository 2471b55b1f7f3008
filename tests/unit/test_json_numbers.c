/*
 * Numbers in JSON: of all lengths and shapes, one by one and as columns, cut off anywhere.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/decimal.h"
#include "base/json_reader.h"
#include "../json_text.h"
#include "../unit.h"

static void expect_int(const char *text, unsigned int digits, int64_t wanted)
{
	struct decimal n;

	assert_int_equal(decimal_scan(str_from(text), &n), strlen(text));
	if (decimal_int(&n, digits) != wanted)
		fail_msg("%s × 10^%u: %lld, not %lld", text, digits,
			(long long)decimal_int(&n, digits), (long long)wanted);
}

TEST(test_decimal_int)
{
	expect_int("0", 0, 0);
	expect_int("-0", 3, 0);
	expect_int("1234.5678", 3, 1234568);
	expect_int("1234.5674", 3, 1234567);
	expect_int("0.5", 0, 1);
	expect_int("-0.5", 0, -1);
	expect_int("0.49999999999999999999", 0, 0);
	expect_int("1e3", 0, 1000);
	expect_int("12.5E-1", 0, 1);
	expect_int("1.5e-1", 3, 150);
	expect_int("9223372036854775807", 0, INT64_MAX);
	expect_int("9223372036854775808", 0, INT64_MAX);
	expect_int("-9223372036854775807", 0, -INT64_MAX);
	expect_int("-9223372036854775808", 0, INT64_MIN);
	expect_int("-1e400", 9, INT64_MIN);
	expect_int("1e-400", 9, 0);
	expect_int("1e99999999999999999999", 0, INT64_MAX);
	expect_int("0e99999999999999999999", 0, 0);
	expect_int("1732012345678901.234", 3, INT64_C(1732012345678901234));
	expect_int("0.000000000000000000000000001e30", 0, 1000);
	expect_int("00012", 0, 12);
}

static void expect_double(const char *text, double wanted)
{
	struct decimal n;

	assert_int_equal(decimal_scan(str_from(text), &n), strlen(text));
	assert_true(decimal_double(&n) == wanted);
}

TEST(test_decimal_double)
{
	expect_double("0.1", 0.1);
	expect_double("-123.456e-7", -123.456e-7);
	expect_double("9007199254740993", 9007199254740993.0);
	expect_double("1.7976931348623157e308", 1.7976931348623157e308);
	expect_double("5e-324", 5e-324);
	expect_double("3.141592653589793238462643383279502884197169399375105820974944592307816406",
		3.141592653589793);
}

/* How much of the text is the number. */
TEST(test_decimal_ends)
{
	static const struct {
		const char *text;
		size_t size;
	} cases[] = {{"", 0}, {"-", 0}, {".5", 0}, {"+1", 0}, {"1.", 1}, {"1.x", 1}, {"1e", 1},
		{"1e+", 1}, {"1e+2", 4}, {"12,3", 2}, {"x", 0}};
	struct decimal n;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(decimal_scan(str_from(cases[i].text), &n), cases[i].size);
}

/* What json_number_element makes of an array must be what json_element and json_decimal do. */
TEST(test_number_elements)
{
	static const char *const texts[] = {"[]", "[1,2,3]", "[ 1 , -2.5,0.000001]",
		"[null,7,\"8\",[9],{}]", "[1e3,12345678901234567890,0.1234567]", "[-,1]", "[1,,2]",
		"[1.,2]", "[1", "[1,2", "[1 2]", "[999999999999999999,1]", "[01,1]",
		"[9999999999999999999,1]", "[99999999999.99999999,1]", "[-0.5]", "[1,2]x",
		"[1234567890123.456789,true]"};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct json_reader quick, plain;
		int64_t a, b;

		json_reader_init(&quick, texts[i], strlen(texts[i]), "test");
		json_reader_init(&plain, texts[i], strlen(texts[i]), "test");
		assert_true(json_array(&quick) && json_array(&plain));
		for (;;) {
			enum json_kind kind = json_number_element(&quick, 6, &a);
			bool has = json_element(&plain);
			enum json_kind wanted = has ? json_peek(&plain) : JSON_NONE;
			if (wanted == JSON_NUMBER && !json_decimal(&plain, 6, &b))
				wanted = JSON_NONE;
			else if (wanted != JSON_NUMBER && has)
				json_skip(&plain);
			assert_int_equal(kind, wanted);
			if (kind == JSON_NONE)
				break;
			if (kind == JSON_NUMBER)
				assert_int_equal(a, b);
		}
		assert_int_equal(json_ok(&quick), json_ok(&plain));
		json_reader_deinit(&quick);
		json_reader_deinit(&plain);
	}
}

/* The elements of an array by json_number_element, as json_numbers gives them. */
static size_t elements_singly(struct json_reader *r, int64_t *values)
{
	size_t count = 0;
	enum json_kind kind;

	while ((kind = json_number_element(r, 6, &values[count])) != JSON_NONE) {
		if (kind != JSON_NUMBER)
			values[count] = JSON_NO_NUMBER;
		count++;
	}
	return count;
}

/* Columns, in parts of any size, are what their elements are one by one; cut off anywhere, too. */
TEST(test_columns)
{
	static const char *const texts[] = {"[]", "[null]",
		"[1,null,2.5,null,-3,1e3,\"4\",[5],null]",
		"[1, 2,\n3 ,null , 12345678901234567890,0.1234567,true,7,8,9,10,11,12,13,14,15,16]",
		"[null,nul,1]", "[1,nullx]", "[1,,2]", "[1,2}", "[null 1]", "[-1,-,2]", "[00,1.,2]",
		"[123456789012.345678,9,99,999,9999,99999,999999,9999999,99999999,999999999,0]"};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		for (size_t size = 1; size <= strlen(texts[i]); size++)
			for (size_t part = 1; part < 5; part++) {
				int64_t wanted[64], got[64];
				struct text t;
				struct json_reader *r =
					begin_sized(&t, (struct str){texts[i], size});
				assert_true(json_array(r));
				size_t count = elements_singly(r, wanted), all = 0, n;
				const uint8_t *fault = r->bad;
				size_t at = fault ? (size_t)(fault - r->start) : 0;
				end(&t);
				r = begin_sized(&t, (struct str){texts[i], size});
				assert_true(json_array(r));
				while ((n = json_numbers(r, 6, got + all, part)) > 0)
					all += n;
				assert_int_equal(all, count);
				assert_memory_equal(got, wanted, count * sizeof(*got));
				assert_int_equal(r->bad != NULL, fault != NULL);
				assert_int_equal(r->bad ? (size_t)(r->bad - r->start) : 0, at);
				end(&t);
			}
}

TEST(test_lowest_number_of_a_column)
{
	struct text t;
	int64_t values[3];
	struct json_reader *r = begin(&t, "[-1e30,null,-9223372036854775808]");

	assert_true(json_array(r));
	assert_int_equal(json_numbers(r, 0, values, 3), 3);
	assert_int_equal(values[0], INT64_MIN + 1);
	assert_int_equal(values[1], JSON_NO_NUMBER);
	assert_int_equal(values[2], INT64_MIN + 1);
	end(&t);
}

/* Every count of digits before and behind the point, with and without room behind the number. */
TEST(test_number_lengths)
{
	static const char digits[] = "9876543210123456789876";

	for (int whole = 1; whole <= 20; whole++)
		for (int fraction = 0; fraction <= 20; fraction++)
			for (int room = 0; room <= 40; room += 40) {
				char text[128];
				struct text t;
				int64_t quick, exact;
				struct decimal n;
				snprintf(text, sizeof(text), "[-%.*s%s%.*s,1%*s]", whole, digits,
					fraction ? "." : "", fraction, digits + 1, room, "");
				struct json_reader *r = begin(&t, text);
				assert_true(json_array(r) && json_element(r));
				assert_true(json_decimal(r, 3, &quick));
				assert_true(decimal_scan(str_from(text + 1), &n));
				exact = decimal_int(&n, 3);
				assert_int_equal(quick, exact);
				assert_true(json_element(r) && json_int(r, &quick));
				assert_int_equal(quick, 1);
				end(&t);
				r = begin(&t, text);
				assert_true(json_array(r));
				assert_int_equal(json_number_element(r, 3, &quick), JSON_NUMBER);
				assert_int_equal(quick, exact);
				end(&t);
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_number_elements),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_lowest_number_of_a_column),
		cmocka_unit_test(test_number_lengths),
		cmocka_unit_test(test_decimal_int),
		cmocka_unit_test(test_decimal_double),
		cmocka_unit_test(test_decimal_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
