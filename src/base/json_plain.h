#ifndef SONDE_BASE_JSON_PLAIN_H
#define SONDE_BASE_JSON_PLAIN_H

/* Numbers of JSON as nearly all are: some digits, a point and further digits or not.  Who finds
 * another one reads it by base/decimal.h.  Inline, for the loops over columns of numbers. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/digits.h"

/* A plain number: digits, with some behind a point or not. */
struct plain {
	uint64_t digits;
	unsigned int whole, fraction; /* how many there are */
	bool is_negative;
};

/* The plain number at p; where it ends, or NULL: it is not so plain, or not followed by what parts
 * values, or near the end of the input. */
static inline const uint8_t *scan_plain(const uint8_t *p, const uint8_t *end, struct plain *n)
{
	enum { ROOM = 1 + 17 + 1 + 17 };

	if (end - p < ROOM)
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
	return *p == ',' || *p == ']' || *p == '}' ? p : NULL;
}

/* As scan_plain, where it has at most 18 digits and not more of them behind the point than
 * `digits`: its value, times 10^digits. */
static inline const uint8_t *plain_number(
	const uint8_t *p, const uint8_t *end, unsigned int digits, int64_t *value)
{
	struct plain n;
	int64_t scaled;

	p = scan_plain(p, end, &n);
	if (p == NULL || n.whole + n.fraction > 18 || n.fraction > digits ||
		digits - n.fraction >= ARRAY_SIZE(powers_of_10) ||
		__builtin_mul_overflow(n.digits, powers_of_10[digits - n.fraction], &scaled))
		return NULL;
	*value = n.is_negative ? -scaled : scaled;
	return p;
}

#endif
