/*
 * Figures as text: scales, grouping, percentages, at the borders where rounding turns over.
 */

#include "base/compiler.h"
#include "view/text/units.h"
#include "../unit.h"

static void expect_scale(struct str unit, uint64_t largest, int64_t value, const char *expected)
{
	struct strbuf out = {0};

	scale_put(&out, scale_for(unit, largest), value);
	assert_string_equal(out.data, expected);
	strbuf_deinit(&out);
}

TEST(times)
{
	const uint64_t s = 1000000000;

	expect_scale(STR("ns"), 5 * s, 1234000000, "1.234 s");
	expect_scale(STR("ns"), 5 * s, 1234567890, "1.235 s");
	expect_scale(STR("ns"), 5 * s, 999999999, "1.000 s");
	expect_scale(STR("ns"), 5 * s, -12000000, "-0.012 s");
	expect_scale(STR("ns"), 5 * s, 500000, "0.001 s");
	expect_scale(STR("ns"), 5 * s, 499999, "0.500 ms");
	expect_scale(STR("ns"), 5 * s, 12, "0.012 us");
	expect_scale(STR("ns"), 5 * s, 0, "0");
	expect_scale(STR("ns"), s - 1, 12345678, "12.346 ms");
	expect_scale(STR("ns"), 999, 999, "999 ns");
	expect_scale(STR("ns"), 4000 * s, INT64_C(3600000000000), "3,600.000 s");
	expect_scale(STR("ns"), UINT64_MAX, INT64_MIN, "-9,223,372,036.855 s");
}

TEST(bytes_and_counts)
{
	expect_scale(STR("bytes"), 1000, 1000, "1,000 B");
	expect_scale(STR("bytes"), 1 << 20, 1536 << 10, "1.50 MiB");
	expect_scale(STR("count"), 1, 1234567, "1,234,567");
	expect_scale(STR("count"), 1, INT64_MAX, "9,223,372,036,854,775,807");
	expect_scale(STR("turnips"), 1, -1000, "-1,000");
}

static void expect_mean(double mean, const char *expected)
{
	struct strbuf out = {0};

	mean_put(&out, mean);
	assert_string_equal(out.data, expected);
	strbuf_deinit(&out);
}

TEST(means)
{
	expect_mean(0, "0.00");
	expect_mean(1.5, "1.50");
	expect_mean(2.996, "3.00");
	expect_mean(1000000, "1,000,000.00");
}

static void expect_percent(int64_t value, int64_t base, const char *expected)
{
	struct strbuf out = {0};

	percent_put(&out, value, base);
	assert_string_equal(out.data, expected);
	strbuf_deinit(&out);
}

TEST(percentages)
{
	expect_percent(1, 3, "33.3%");
	expect_percent(2, 3, "66.7%");
	expect_percent(5, 5, "100.0%");
	expect_percent(0, 5, "0");
	expect_percent(5, 0, "-");
	expect_percent(0, 0, "-");
	expect_percent(1, 2001, "<0.1%");
	expect_percent(1, 2000, "0.1%");
	expect_percent(-1, 2001, "-<0.1%");
	expect_percent(-1, 4, "-25.0%");
	expect_percent(-1, -4, "25.0%");
	expect_percent(50, 2, "2,500.0%");
	expect_percent(INT64_MAX, INT64_MAX, "100.0%");
	expect_percent(INT64_MIN, INT64_MAX, "-100.0%");
	expect_percent(INT64_MAX, 1, "922,337,203,685,477,580,700.0%");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times),
		cmocka_unit_test(bytes_and_counts),
		cmocka_unit_test(means),
		cmocka_unit_test(percentages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
