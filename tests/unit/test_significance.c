/*
 * Tests of counts against sums written out, against published figures, and against chance itself.
 */
#include <math.h>

#include "../random_profile.h"
#include "../unit.h"
#include "analysis/significance.h"
#include "base/compiler.h"

/* P(X = k) of n trials. */
static double binomial(uint64_t k, uint64_t n, double share)
{
	double log_ways =
		lgamma((double)n + 1) - lgamma((double)k + 1) - lgamma((double)(n - k) + 1);

	return exp(log_ways + (double)k * log(share) + (double)(n - k) * log(1 - share));
}

static double slow_test(uint64_t old_count, uint64_t new_count, double share)
{
	uint64_t n = old_count + new_count;
	double less = 0, more = 0;

	for (uint64_t k = 0; k <= n; k++) {
		if (k <= new_count)
			less += binomial(k, n, share);
		if (k >= new_count)
			more += binomial(k, n, share);
	}
	return fmin(1, 2 * fmin(less, more));
}

TEST(agrees_with_sums)
{
	static const double shares[] = {0.5, 0.1, 0.91, 0.001};

	for (size_t s = 0; s < ARRAY_SIZE(shares); s++)
		for (uint64_t a = 0; a < 60; a++)
			for (uint64_t b = a == 0; b < 60; b++) {
				double fast = significance_of_counts(a, b, shares[s]);
				double slow = slow_test(a, b, shares[s]);

				if (fabs(fast - slow) > 1e-9 * (1 + slow))
					fail_msg("%d %d of %g: %g, not %g", (int)a, (int)b,
						shares[s], fast, slow);
			}
}

TEST(large_counts_are_normal)
{
	/* 2 standard deviations, √(2 n), between counts of n. */
	static const uint64_t counts[] = {
		100000, 10000000, 1000000000, 1000000000000, 1000000000000000, INT64_MAX / 2};

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		uint64_t off = (uint64_t)(2 * sqrt(2 * (double)counts[i]));
		double p = significance_of_counts(counts[i], counts[i] + off, 0.5);

		assert_true(p > 0.044 && p < 0.047);
		assert_true(significance_of_counts(counts[i], counts[i] + 1, 0.5) > 0.9);
	}
}

TEST(equal_is_no_difference)
{
	assert_true(significance_of_counts(0, 0, 0.5) == 1);
	assert_true(significance_of_counts(50, 50, 0.5) == 1);
	/* Twice the interval, half the samples. */
	assert_true(significance_of_counts(2000, 1000, 1.0 / 3) > 0.9);
	assert_true(significance_of_counts(1000, 1000, 1.0 / 3) < 1e-6);
	assert_true(significance_of_counts(UINT64_MAX, 5, 0.5) == 1);
}

/* Ten patients' hours of sleep gained by either of two drugs (Student 1908): p is 0.07919. */
TEST(students_own_example_comes_out)
{
	static const double first[] = {0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
	static const double second[] = {1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};
	/* A table's t of 5 % with one degree of freedom: 12.706. */
	static const double apart[] = {-1, 1, 22.0074};

	assert_true(fabs(significance_of_runs(first, 10, second, 10) - 0.07919) < 0.00001);
	assert_true(fabs(significance_of_runs(second, 10, first, 10) - 0.07919) < 0.00001);
	assert_true(fabs(significance_of_runs(apart, 2, apart + 2, 1) - 0.05) < 0.0001);
}

TEST(runs_without_spread_are_certain)
{
	static const double same[] = {3, 3, 3, 4};

	assert_true(significance_of_runs(same, 2, same + 1, 2) == 1);
	assert_true(significance_of_runs(same, 3, same + 3, 1) == 0);
}

/* Runs of one program, which scatter: one of twenty is taken for a change. */
TEST(spread_is_seldom_taken_for_a_change)
{
	struct random r = random_from(7);
	int rounds = 4000, wrong = 0;

	for (int round = 0; round < rounds; round++) {
		double values[7] = {0};

		/* Twelve uniform values come near to a normal one. */
		for (int i = 0; i < 12 * 7; i++)
			values[i / 12] += random_below(&r, 1000);
		wrong += significance_of_runs(values, 3, values + 3, 4) <= 0.05;
	}
	/* 200, with a deviation of 14. */
	assert_true(wrong > 144 && wrong < 256);
}

/* The example of Benjamini and Hochberg's paper, where four of 15 are significant. */
TEST(the_published_example_comes_out)
{
	static const double p[] = {0.4262, 0.0001, 0.0095, 0.0344, 0.0019, 0.5719, 0.0459, 0.0004,
		0.6528, 0.0298, 0.3240, 0.0201, 0.7590, 0.0278, NAN, 1.0};
	bool marked[ARRAY_SIZE(p)];

	significance_mark(p, ARRAY_SIZE(p), 0.05, marked);
	for (size_t i = 0; i < ARRAY_SIZE(p); i++)
		assert_int_equal(marked[i], p[i] <= 0.0095);
	significance_mark(p, 0, 0.05, marked);
}

/* How many of 1000 intervals, each hit with that probability, are hit. */
static uint64_t sampled(struct random *r, uint32_t per_thousand)
{
	uint64_t count = 0;

	for (int i = 0; i < 1000; i++)
		count += random_below(r, 1000) < per_thousand;
	return count;
}

/* Two recordings of a program that did not change: rarely is anything of it marked. */
TEST(chance_is_seldom_marked)
{
	struct random r = random_from(5);
	int rounds = 300, wrong = 0;

	for (int round = 0; round < rounds; round++) {
		double p[40];
		bool marked[40], any = false;

		for (uint32_t i = 0; i < 40; i++)
			p[i] = significance_of_counts(sampled(&r, i * 3), sampled(&r, i * 3), 0.5);
		significance_mark(p, 40, SIGNIFICANCE_RATE, marked);
		for (size_t i = 0; i < 40; i++)
			any |= marked[i];
		wrong += any;
	}
	/* 5 % at most: of 300 that is 15, with a deviation of 4. */
	assert_true(wrong <= 27);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_sums),
		cmocka_unit_test(large_counts_are_normal),
		cmocka_unit_test(equal_is_no_difference),
		cmocka_unit_test(students_own_example_comes_out),
		cmocka_unit_test(runs_without_spread_are_certain),
		cmocka_unit_test(spread_is_seldom_taken_for_a_change),
		cmocka_unit_test(the_published_example_comes_out),
		cmocka_unit_test(chance_is_seldom_marked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
