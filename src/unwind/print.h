#ifndef SONDE_UNWIND_PRINT_H
#define SONDE_UNWIND_PRINT_H

/*
 * A frame's fingerprint besides its registers: a hash of the three words at its sp.  In a separate
 * header without includes, because a BPF program also computes it.
 */

#include <stdint.h>

static inline uint64_t unwind_print(const uint64_t word[3])
{
	uint64_t print = word[0] * 0x9e3779b97f4a7c15u + word[1];

	return (print ^ print >> 32) * 0x9e3779b97f4a7c15u + word[2];
}

#endif
