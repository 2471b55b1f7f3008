#ifndef SONDE_BASE_RANK_SET_H
#define SONDE_BASE_RANK_SET_H

/*
 * A set of small numbers that can count its members below any number: a bit for each number, and
 * for each word of bits the count of members before it (G. Jacobson, "Space-efficient Static Trees
 * and Graphs", 1989).  A number takes 1.5 bits.  A property of only some of many things, such as a
 * stack's weight, is then stored in a dense array in order, and found with two reads.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct rank_set {
	const uint64_t *bits;	/* [size / 64 + 1]: bit i % 64 of word i / 64 is set if i is a
				   member */
	const uint32_t *before; /* [word]: number of members in earlier words */
	size_t size;		/* all numbers are less */
	uint32_t count;		/* number of members */
};

/* Bits for the numbers below `size`, none set; set them with rank_set_put, in any order. */
must_use uint64_t *rank_set_bits(size_t size, struct arena *arena);
static inline void rank_set_put(uint64_t *bits, uint32_t i)
{
	bits[i / 64] |= UINT64_C(1) << i % 64;
}
static inline bool rank_set_bit(const uint64_t *bits, uint32_t i)
{
	return bits[i / 64] >> i % 64 & 1;
}
/* The set of the bits, which must stay in place; lives in the arena. */
must_use struct rank_set rank_set_make(const uint64_t *bits, size_t size, struct arena *arena);

/*
 * The number of bits set in a word.  Compilers call a function for __builtin_popcountll, unless
 * they may choose the processor (Knuth, TAOCP 7.1.3, eq. 62); WebAssembly has an instruction.
 */
static inline uint32_t count_bits(uint64_t x)
{
#ifdef __wasm__
	return (uint32_t)__builtin_popcountll(x);
#endif
	x -= x >> 1 & UINT64_C(0x5555555555555555);
	x = (x & UINT64_C(0x3333333333333333)) + (x >> 2 & UINT64_C(0x3333333333333333));
	x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return (uint32_t)(x * UINT64_C(0x0101010101010101) >> 56);
}

static inline bool rank_set_has(const struct rank_set *s, uint32_t i)
{
	return rank_set_bit(s->bits, i);
}

/* The number of members less than i, which may be `size`. */
static inline uint32_t rank_set_below(const struct rank_set *s, uint32_t i)
{
	return s->before[i / 64] + count_bits(s->bits[i / 64] & ((UINT64_C(1) << i % 64) - 1));
}

/* The least member ≥ i, or `size`. */
static inline uint32_t rank_set_next(const struct rank_set *s, uint32_t i)
{
	size_t word = i / 64, last = s->size / 64;
	uint64_t bits = s->bits[word] >> i % 64 << i % 64;

	while (bits == 0) {
		if (word++ == last)
			return (uint32_t)s->size;
		bits = s->bits[word];
	}
	return (uint32_t)(word * 64) + (uint32_t)__builtin_ctzll(bits);
}

#endif
