/*
 * Tests of counts.  See significance.h for which and why.
 *
 * A tail of the binomial distribution is a regularised incomplete beta function, P(X ≥ k) = I_x(k,
 * n - k + 1) (NIST Digital Library of Mathematical Functions, 8.17.5), computed from its continued
 * fraction (8.17.22) with Lentz's method (W. J. Lentz, Generating Bessel functions in Mie
 * scattering calculations, Applied Optics 15, 1976): about √n steps, where a sum would take n.  It
 * is the difference of numbers near n log n, which for billions of samples cancel to noise; there
 * the normal distribution is as close as can be seen.
 */
#include "analysis/significance.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

/* Prevents division by 0 in Lentz's quotients. */
#define TINY   1e-300
#define ENOUGH 1e-14
/* More than any count of samples takes. */
#define STEPS_MAX 1000000
/* From that count and variance on, tails are those of the normal distribution. */
#define COUNT_NORMAL	1e9
#define VARIANCE_NORMAL 1e6

static double not_zero(double value)
{
	return fabs(value) < TINY ? TINY : value;
}

/* The m-th pair of the fraction's coefficients, applied to its two running quotients. */
static double lentz_step(double coefficient, double *c, double *d)
{
	*d = 1 / not_zero(1 + coefficient * *d);
	*c = not_zero(1 + coefficient / *c);
	return *c * *d;
}

static double beta_fraction(double a, double b, double x)
{
	double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1)), product = d;

	for (int m = 1; m < STEPS_MAX; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		product *= lentz_step(even, &c, &d);
		double factor = lentz_step(odd, &c, &d);
		product *= factor;
		if (fabs(factor - 1) < ENOUGH)
			break;
	}
	return product;
}

/* I_x(a, b) for a, b > 0 and 0 < x < 1. */
static double incomplete_beta(double a, double b, double x)
{
	double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));

	/* The fraction converges quickly only on the near side of the mean. */
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

/* P(X ≥ k) of n trials. */
static double upper_tail(uint64_t k, uint64_t n, double share)
{
	double variance = (double)n * share * (1 - share);

	if (k == 0)
		return 1;
	if ((double)n > COUNT_NORMAL && variance > VARIANCE_NORMAL)
		return erfc(((double)k - 0.5 - (double)n * share) / sqrt(2 * variance)) / 2;
	return incomplete_beta((double)k, (double)(n - k) + 1, share);
}

double significance_of_counts(uint64_t old_count, uint64_t new_count, double new_share)
{
	uint64_t n;

	if (__builtin_add_overflow(old_count, new_count, &n) || n == 0)
		return 1;
	double more = upper_tail(new_count, n, new_share);
	double less = upper_tail(old_count, n, 1 - new_share);
	double both = 2 * (more < less ? more : less);

	return both < 1 ? both : 1;
}

static double mean_of(const double *values, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += values[i];
	return sum / (double)count;
}

static double squares_about(double mean, const double *values, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += (values[i] - mean) * (values[i] - mean);
	return sum;
}

double significance_of_runs(
	const double *old_values, size_t old_count, const double *new_values, size_t new_count)
{
	double before = mean_of(old_values, old_count), after = mean_of(new_values, new_count);
	double freedom = (double)(old_count + new_count - 2);
	double squares = squares_about(before, old_values, old_count) +
			 squares_about(after, new_values, new_count);
	double apart = (after - before) * (after - before);
	double noise = squares / freedom * (1 / (double)old_count + 1 / (double)new_count);

	if (apart <= 0)
		return 1;
	/* The two tails of Student's t beyond √(apart / noise). */
	double x = freedom * noise / (freedom * noise + apart);

	return x > 0 ? incomplete_beta(freedom / 2, 0.5, x) : 0;
}

static int double_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void significance_mark(const double *p, size_t count, double rate, bool *marked)
{
	double *sorted = xcalloc(count, sizeof(*sorted));
	double bound = -1;
	size_t tested = 0;

	for (size_t i = 0; i < count; i++)
		if (!isnan(p[i]))
			sorted[tested++] = p[i];
	qsort(sorted, tested, sizeof(*sorted), double_compare);
	for (size_t k = 0; k < tested; k++)
		if (sorted[k] <= rate * (double)(k + 1) / (double)tested)
			bound = sorted[k];
	for (size_t i = 0; i < count; i++)
		marked[i] = p[i] <= bound;
	free(sorted);
}
