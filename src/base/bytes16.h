#ifndef SONDE_BASE_BYTES16_H
#define SONDE_BASE_BYTES16_H

/*
 * Sixteen bytes that are compared at once: vectors of gcc and clang, for machines of all kinds.
 * Comparing one (v == 'x') gives bytes of all ones where it holds.
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

/* What a comparison found: bit i says so of byte i. */
static inline uint64_t found_bits(bytes16 v)
{
#ifdef __SSE2__
	typedef char chars16 __attribute__((vector_size(16)));
	return (uint64_t)__builtin_ia32_pmovmskb128((chars16)v);
#else
	uint64_t half[2];

	memcpy(half, &v, sizeof(v));
	/* A bit of each byte is shifted to the highest byte, each by as much as it lacks. */
	for (size_t i = 0; i < 2; i++)
		half[i] = (half[i] & UINT64_C(0x0101010101010101)) * UINT64_C(0x0102040810204080) >>
			  56;
	return half[0] | half[1] << 8;
#endif
}

#endif
