#ifndef SONDE_BASE_DECIMAL_H
#define SONDE_BASE_DECIMAL_H

/*
 * Decimal numbers in text, "-12.5e3": read as digits and a power of ten, so that nothing is lost
 * where they are scaled to whole units ("1234.567891" s to ns).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct decimal {
	struct str text;
	bool is_negative;
	uint64_t digits;  /* the first 19 of them, as a number */
	int64_t exponent; /* the number is digits × 10^exponent */
};

/* The number that s begins with, JSON's grammar but for leading zeros: how many bytes it has; 0:
 * none does. The text is borrowed. */
size_t decimal_scan(struct str s, struct decimal *number);
/* The number times 10^digits as an integer, rounded half away from zero; beyond 64 bits the nearest
 * that they hold. */
int64_t decimal_int(const struct decimal *number, unsigned int digits);
double decimal_double(const struct decimal *number);

#endif
