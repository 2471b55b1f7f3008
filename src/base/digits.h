#ifndef SONDE_BASE_DIGITS_H
#define SONDE_BASE_DIGITS_H

/*
 * Runs of decimal digits, eight at a time (the word tricks of H. Warren, Hacker's Delight, chapter
 * 6).  For machines whose lowest byte comes first.
 */

#include <stdint.h>
#include <string.h>

#include "base/compiler.h"

static const uint64_t powers_of_10[] = {
	1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};

#define DIGITS_EACH_BYTE UINT64_C(0x0101010101010101)

/* The number of `count` digits, 1 to 8: their values, not letters, the first in the lowest byte. */
static inline uint64_t digits_sum(uint64_t digits, unsigned int count)
{
	/*
	 * As if zeros were before them; then ever two neighbours are made one: 10 times the first
	 * and the second meet where the second was, as 1 + 10 * 2^8 times both.
	 */
	digits <<= 64 - 8 * count;
	digits = digits * (1 + (10 << 8)) >> 8 & UINT64_C(0x00ff00ff00ff00ff);
	digits = digits * (1 + (100 << 16)) >> 16 & UINT64_C(0x0000ffff0000ffff);
	return digits * (1 + (UINT64_C(10000) << 32)) >> 32;
}

/* The `count` digits at p, 1 to 8, of which 8 bytes can be read, for who knows that they are. */
static inline uint64_t digits_known(const uint8_t *p, unsigned int count)
{
	uint64_t w;

	memcpy(&w, p, sizeof(w));
	return digits_sum(w ^ DIGITS_EACH_BYTE * '0', count);
}

/* The digits at p, of which 8 bytes can be read: how many there are of these, at most 8; they are
 * added to *number. */
static inline unsigned int digit_run(const uint8_t *p, uint64_t *number)
{
	uint64_t w;

	memcpy(&w, p, sizeof(w));
	w ^= DIGITS_EACH_BYTE * '0';
	/*
	 * Upper bits are in no digit now, nor in the sum of one and 6, and in either of all else.
	 * What adding carries comes from a byte that has them, too, so the first one is right.
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
