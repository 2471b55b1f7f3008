#ifndef SONDE_BASE_DECIMAL_H
#define SONDE_BASE_DECIMAL_H

/*
 * Decimal numbers in text, "-12.5e3": read as digits and a power of ten, so that scaling to whole
 * units ("1234.567891" s to ns) is exact.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct decimal {
	struct str text;
	bool is_negative;
	uint64_t digits;  /* the first 19 digits, as a number */
	int64_t exponent; /* the number is digits × 10^exponent */
};

/*
 * Reads the number at the start of s, in JSON's grammar but allowing leading zeros. Returns its
 * size in bytes; 0: there is none. The text is borrowed.
 */
size_t decimal_scan(struct str s, struct decimal *number);
/*
 * The number times 10^digits as an integer, rounded half away from zero and saturated to 64 bits.
 */
int64_t decimal_int(const struct decimal *number, unsigned int digits);
double decimal_double(const struct decimal *number);

#endif
