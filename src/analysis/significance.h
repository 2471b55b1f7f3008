#ifndef SONDE_ANALYSIS_SIGNIFICANCE_H
#define SONDE_ANALYSIS_SIGNIFICANCE_H

/*
 * Whether two counts of samples differ by more than chance.
 *
 * Samples at a fixed interval hit a stretch of code a number of times that varies about as
 * Poisson's distribution does (by less, if anything, where the code recurs with the interval).  So
 * two profiles are compared by the conditional test of two Poisson rates (J. Przyborowski and H.
 * Wilenski, Homogeneity of results in testing samples from Poisson series, Biometrika 31, 1940):
 * given both counts' sum n, the new count is binomial, (n, share), where share is the new profile's
 * part of the samples that equal weights would give.  It is exact, even for small counts.
 *
 * Of hundreds of rows compared at once, some are far off by chance.  The procedure of Y. Benjamini
 * and Y. Hochberg (Controlling the false discovery rate, J. R. Statist. Soc. B 57, 1995) keeps the
 * expected part of those among the marked ones below a bound.
 *
 * Variation from run to run for reasons other than sampling (the machine's load, caches, random
 * seeds) is not included.  Several runs a side show it, by how much they differ among themselves.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The accepted rate of false discoveries. */
#define SIGNIFICANCE_RATE 0.05

/*
 * The probability that chance alone makes counts differ by as much or more, two-sided; 1 if both
 * are 0. 0 < new_share < 1: the share of new counts that is expected by chance.
 */
double significance_of_counts(uint64_t old_count, uint64_t new_count, double new_share);

/*
 * The probability that values scatter as much as those of a side do, and their means are as far
 * apart or farther: Student's test of two samples, with one spread for both sides (Student, The
 * probable error of a mean, Biometrika 6, 1908).  At least one value a side, and three in all.
 */
double significance_of_runs(
	const double *old_values, size_t old_count, const double *new_values, size_t new_count);

/*
 * marked[i] for the count probabilities p[i] that are significant together; NaN: the row was not
 * tested.  In O(count log count).
 */
void significance_mark(const double *p, size_t count, double rate, bool *marked);

#endif
