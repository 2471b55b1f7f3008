#ifndef SONDE_TESTS_SPIN_H
#define SONDE_TESTS_SPIN_H

/*
 * Work of a known amount: a chain of integer steps, each waiting for the one before, so that every
 * round takes the same time wherever it stands.  Always inlined: the time is the caller's own.
 */

#include <stdint.h>

/* A function that stays one: not inlined, not copied for the constants it is called with. */
#ifdef __clang__
#define KEEP __attribute__((noinline, used))
#else
#define KEEP __attribute__((noinline, noclone, used))
#endif

static inline __attribute__((always_inline)) uint64_t spin(uint64_t rounds, uint64_t x)
{
	for (uint64_t i = 0; i < rounds; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

/* Something to do after a call, or it would become a jump and its caller's frame vanish. */
#define NO_TAIL_CALL(x) __asm__ volatile("" : "+r"(x))

#endif
