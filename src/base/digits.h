#ifndef SONDE_BASE_DIGITS_H
#define SONDE_BASE_DIGITS_H

/*
 * Runs of decimal digits, eight at a time (the word tricks of H.  Warren, Hacker's Delight, chapter
 * 6).  For little-endian machines.
 */

#include <stdint.h>
#include <string.h>

#include "base/compiler.h"

static const uint64_t powers_of_10[] = {
	1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};

#define DIGITS_EACH_BYTE UINT64_C(0x0101010101010101)

/*
 * The value of `count` digits, 1 to 8, given as values, not characters, the first in the lowest
 * byte.
 */
static inline uint64_t digits_sum(uint64_t digits, unsigned int count)
{
	/*
	 * Pads with leading zeros, then combines adjacent digits in pairs: 10 times the first plus
	 * the second end up in the second's place, by multiplying both with 1 + 10 * 2^8.
	 */
	digits <<= 64 - 8 * count;
	digits = digits * (1 + (10 << 8)) >> 8 & UINT64_C(0x00ff00ff00ff00ff);
	digits = digits * (1 + (100 << 16)) >> 16 & UINT64_C(0x0000ffff0000ffff);
	return digits * (1 + (UINT64_C(10000) << 32)) >> 32;
}

/*
 * The value of the `count` bytes at p, 1 to 8, which are known to be digits; 8 bytes must be
 * readable.
 */
static inline uint64_t digits_known(const uint8_t *p, unsigned int count)
{
	uint64_t w;

	memcpy(&w, p, sizeof(w));
	return digits_sum(w ^ DIGITS_EACH_BYTE * '0', count);
}

/*
 * Appends the digits at p to *number; returns how many there are, at most 8. 8 bytes must be
 * readable.
 */
static inline unsigned int digit_run(const uint8_t *p, uint64_t *number)
{
	uint64_t w;

	memcpy(&w, p, sizeof(w));
	w ^= DIGITS_EACH_BYTE * '0';
	/*
	 * Neither a digit nor its sum with 6 now has upper bits, and any other byte has them in one
	 * of the two.  A carry comes only from a byte that has them as well, so the first such byte
	 * is correct.
	 */
	uint64_t others = ((w + DIGITS_EACH_BYTE * 6) | w) & DIGITS_EACH_BYTE * 0xf0;
	unsigned int bits = others ? (unsigned int)__builtin_ctzll(others) & ~7u : 64;
	if (bits == 0)
		return 0;
	unsigned int count = bits / 8;
	*number = *number * powers_of_10[count] + digits_sum(w, count);
	return count;
}

/* All the digits at p, if they are at most DIGITS_MAX and 17 bytes can be read, else more than
 * that.
 */
#define DIGITS_MAX 16
static inline unsigned int digits_run(const uint8_t *p, uint64_t *number)
{
	unsigned int count = digit_run(p, number);

	if (unlikely(count == 8)) {
		count += digit_run(p + 8, number);
		if (count == 16 && p[16] >= '0' && p[16] <= '9')
			count++;
	}
	return count;
}

#endif
