/*
 * Powers and roots in the simplest way: the power of two is split off, and the rest summed as a
 * series; the root uses Newton's iteration from a guess that halves the exponent.
 */
#include "zonereport/figures.h"

#include <stdint.h>
#include <string.h>

/* 2^n for -1022 <= n <= 1023 */
static double power_of_two(int n)
{
	uint64_t bits = (uint64_t)(1023 + n) << 52;
	double power;

	memcpy(&power, &bits, sizeof(power));
	return power;
}

double figure_tenth_power(double x)
{
	/* 10^-x = 2^-whole * e^-rest, rest < ln 2 */
	const double log2_of_10 = 3.321928094887362347870, ln_2 = 0.693147180559945309417;
	double twos = x * log2_of_10, rest, term = 1, sum = 1;
	int whole;

	if (!(x > 0))
		return 1;
	if (x >= 307)
		return 0;
	whole = (int)twos;
	rest = (twos - whole) * ln_2;
	for (int i = 1; i < 20; i++) {
		term *= -rest / i;
		sum += term;
	}
	return sum * power_of_two(-whole);
}

double figure_root(double x)
{
	uint64_t bits;
	double root;

	if (!(x > 0))
		return 0;
	memcpy(&bits, &x, sizeof(bits));
	bits = (bits >> 1) + (UINT64_C(1023) << 51);
	memcpy(&root, &bits, sizeof(root));
	for (int i = 0; i < 5; i++)
		root = 0.5 * (root + x / root);
	return root;
}
