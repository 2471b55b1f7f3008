#ifndef SONDE_BASE_JSON_PLAIN_H
#define SONDE_BASE_JSON_PLAIN_H

/*
 * The common form of JSON numbers: digits, optionally with a point and more digits.  Other forms
 * are read with base/decimal.h.  Inline, for loops over columns of numbers.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/digits.h"

/* A plain number: digits, optionally with more after a point. */
struct plain {
	uint64_t digits;
	unsigned int whole, fraction; /* number of digits */
	bool is_negative;
};

enum { PLAIN_NUMBER_ROOM = 1 + 17 + 1 + 17 }; /* the most bytes that are read */

static inline bool parts_values(uint8_t c)
{
	return c == ',' || c == ']' || c == '}';
}

/*
 * Reads the plain number at p; returns its end, or NULL if it is not plain, is not followed by a
 * separator, or is near the end of the input.
 */
static inline const uint8_t *scan_plain(const uint8_t *p, const uint8_t *end, struct plain *n)
{
	if (end - p < PLAIN_NUMBER_ROOM)
		return NULL;
	*n = (struct plain){.is_negative = *p == '-'};
	p += n->is_negative;
	n->whole = digits_run(p, &n->digits);
	if (n->whole == 0 || n->whole > 16)
		return NULL;
	p += n->whole;
	if (*p == '.') {
		n->fraction = digits_run(p + 1, &n->digits);
		if (n->fraction == 0)
			return NULL;
		p += 1 + n->fraction;
	}
	return parts_values(*p) ? p : NULL;
}

/*
 * Like plain_number, for numbers without a sign and with less than eight digits on either side of
 * the point.
 */
static inline const uint8_t *short_number(const uint8_t *p, unsigned int digits, int64_t *value)
{
	uint64_t number = 0;
	unsigned int whole, fraction = 0;

	/*
	 * Whole columns have one-digit numbers.  A predicted branch lets the next number start
	 * before the length of this one is known.
	 */
	if (p[1] == ',' && *p >= '0' && *p <= '9') {
		*value = (int64_t)((uint64_t)(*p - '0') * powers_of_10[digits]);
		return p + 1;
	}
	whole = digit_run(p, &number);
	if (whole == 0 || whole == 8)
		return NULL;
	p += whole;
	if (*p == '.') {
		fraction = digit_run(p + 1, &number);
		if (fraction == 0 || fraction == 8 || fraction > digits)
			return NULL;
		p += 1 + fraction;
	}
	*value = (int64_t)(number * powers_of_10[digits - fraction]);
	return parts_values(*p) ? p : NULL;
}

/*
 * Like scan_plain, for at most 18 digits, of which at most `digits` are after the point: returns
 * the value times 10^digits.
 */
static inline const uint8_t *plain_number(
	const uint8_t *p, const uint8_t *end, unsigned int digits, int64_t *value)
{
	struct plain n;
	int64_t scaled;

	if (likely(end - p >= PLAIN_NUMBER_ROOM && digits < ARRAY_SIZE(powers_of_10))) {
		const uint8_t *behind = short_number(p, digits, value);
		if (likely(behind))
			return behind;
	}
	p = scan_plain(p, end, &n);
	if (p == NULL || n.whole + n.fraction > 18 || n.fraction > digits ||
		digits - n.fraction >= ARRAY_SIZE(powers_of_10) ||
		__builtin_mul_overflow(
			(int64_t)n.digits, (int64_t)powers_of_10[digits - n.fraction], &scaled))
		return NULL;
	*value = n.is_negative ? -scaled : scaled;
	return p;
}

#endif
