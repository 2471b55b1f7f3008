/*
 * Numbers that fit into their column, rounded and never cut: a number without its last digits is a
 * different number.
 */
#include "zones_gl/number.h"

#include <math.h>
#include <stdio.h>

static int written(char *text, size_t size, double value, int decimals, const char *letter)
{
	return snprintf(text, size, "%.*f%s", decimals, value, letter);
}

void number_text(char *text, size_t size, double value, int decimals, int most)
{
	static const char *const letters[] = {"k", "M", "G", "T"};

	for (int d = decimals; d >= 0; d--)
		if (written(text, size, value, d, "") <= most)
			return;
	for (int i = 0; i < 4; i++) {
		value /= 1000;
		for (int d = 2; d >= 0 && fabs(value) < 999.5; d--)
			if (written(text, size, value, d, letters[i]) <= most)
				return;
	}
	snprintf(text, size, "%.0e", value * 1e12);
}
