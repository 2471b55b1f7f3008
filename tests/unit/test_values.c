/*
 * Values with units: what is read, and what is refused.
 */

#include "session/option.h"
#include "session/values.h"
#include "../unit.h"

#include <string.h>

#define UNTOUCHED 0xabadcafe

struct row {
	const char *text;
	uint64_t value; /* UNTOUCHED: refused */
};

static void check(const struct row *row, struct error *err, uint64_t value)
{
	if ((err == NULL) != (row->value != UNTOUCHED) || value != row->value)
		fail_msg("'%s' gave %llu, not %llu", row->text, (unsigned long long)value,
			(unsigned long long)row->value);
	if (err) {
		assert_int_equal(err->kind, ERROR_USAGE);
		assert_non_null(strstr(err->message, row->text));
	}
	error_destroy(err);
}

TEST(counts)
{
	static const struct row rows[] = {{"1", 1}, {"007", 7}, {"100", 100}, {"0", UNTOUCHED},
		{"101", UNTOUCHED}, {"", UNTOUCHED}, {"1x", UNTOUCHED}, {" 1", UNTOUCHED},
		{"-1", UNTOUCHED}, {"+1", UNTOUCHED}, {"1.0", UNTOUCHED}, {"1.", UNTOUCHED},
		{"99999999999999999999", UNTOUCHED}, {"18446744073709551617", UNTOUCHED},
		{NULL, 0}};
	uint64_t most;

	for (const struct row *row = rows; row->text; row++) {
		uint64_t value = UNTOUCHED;
		struct error *err = value_count(row->text, 1, 100, &value);

		check(row, err, value);
	}
	assert_null(value_count("18446744073709551615", 0, UINT64_MAX, &most));
	assert_true(most == UINT64_MAX);
}

TEST(times)
{
	static const struct row rows[] = {{"1ns", 1}, {"10000us", 10000000}, {"1.5ms", 1500000},
		{"0.1s", 100000000}, {".5s", 500000000}, {"2min", 120000000000},
		{"1h", 3600000000000}, {"3µs", 3000}, {"1.0000000000000001s", 1000000000},
		{"0.4ns", 0}, {"0.5ns", 1}, {"0s", 0}, {"10", UNTOUCHED}, {"ms", UNTOUCHED},
		{"", UNTOUCHED}, {".ms", UNTOUCHED}, {"1 ms", UNTOUCHED}, {"1m", UNTOUCHED},
		{"1..5s", UNTOUCHED}, {"-1s", UNTOUCHED}, {"1msx", UNTOUCHED},
		{"9999999999h", UNTOUCHED}, {"99999999999999999999ns", UNTOUCHED}, {NULL, 0}};

	for (const struct row *row = rows; row->text; row++) {
		uint64_t value = UNTOUCHED;
		struct error *err = value_time(row->text, &value);

		check(row, err, value);
	}
}

TEST(frequencies)
{
	static const struct row rows[] = {{"1000", 1000000}, {"100", 10000000}, {"99", 10101010},
		{"997Hz", 1003009}, {"4k", 250000}, {"2.5kHz", 400000}, {"0.5", 2000000000},
		{"1000000000", 1}, {"0", UNTOUCHED}, {"0.0", UNTOUCHED}, {"", UNTOUCHED},
		{"Hz", UNTOUCHED}, {"4M", UNTOUCHED}, {"-5", UNTOUCHED}, {"3000000000", UNTOUCHED},
		{"1e3", UNTOUCHED}, {NULL, 0}};

	for (const struct row *row = rows; row->text; row++) {
		uint64_t value = UNTOUCHED;
		struct error *err = value_frequency(row->text, &value);

		check(row, err, value);
	}
}

TEST(choices)
{
	static const char *const names[] = {"none", "direct", "full", NULL};

	assert_int_equal(CHOICE_OF("none", names), 0);
	assert_int_equal(CHOICE_OF("full", names), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts),
		cmocka_unit_test(times),
		cmocka_unit_test(frequencies),
		cmocka_unit_test(choices),
	};

	return cmocka_run_group_tests_name("values", tests, NULL, NULL);
}
