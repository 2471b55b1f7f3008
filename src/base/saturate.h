#ifndef SONDE_BASE_SATURATE_H
#define SONDE_BASE_SATURATE_H

/* Sums that stay at the end of their range instead of wrapping. */

#include <stdint.h>

static inline void add_saturating(uint64_t *sum, uint64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum))
		*sum = UINT64_MAX;
}

static inline int64_t sum_saturating(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return a > 0 ? INT64_MAX : INT64_MIN;
	return sum;
}

#endif
