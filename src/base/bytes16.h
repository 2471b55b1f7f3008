#ifndef SONDE_BASE_BYTES16_H
#define SONDE_BASE_BYTES16_H

/*
 * Sixteen bytes that are compared at once, with the portable vectors of gcc and clang. A comparison
 * (v == 'x') gives bytes of all ones where it is true.
 */

#include <stdint.h>
#include <string.h>

typedef uint8_t bytes16 __attribute__((vector_size(16)));

static inline bytes16 load16(const uint8_t *p)
{
	bytes16 v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* The result of a comparison as bits: bit i is byte i. */
static inline uint64_t found_bits(bytes16 v)
{
#ifdef __SSE2__
	typedef char chars16 __attribute__((vector_size(16)));
	return (uint64_t)__builtin_ia32_pmovmskb128((chars16)v);
#else
	uint64_t half[2];

	memcpy(half, &v, sizeof(v));
	/* Shifts one bit of each byte into the highest byte, each to its own position. */
	for (size_t i = 0; i < 2; i++)
		half[i] = (half[i] & UINT64_C(0x0101010101010101)) * UINT64_C(0x0102040810204080) >>
			  56;
	return half[0] | half[1] << 8;
#endif
}

#endif
