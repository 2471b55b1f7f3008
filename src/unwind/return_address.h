#ifndef SONDE_UNWIND_RETURN_ADDRESS_H
#define SONDE_UNWIND_RETURN_ADDRESS_H

/*
 * What the code shows of an address to which a frame returns.  A rule derived from the code holds
 * only if it finds such an address, and so does a guess.  Private to the walker.
 */

#include "unwind/step.h"

enum { RETURN_CACHE_SIZE = 1024 };

/* Cached checks of return addresses, by address and space. */
struct return_cache {
	struct {
		uint64_t va, generation;
		bool after_call;
	} slots[RETURN_CACHE_SIZE];
};

/* Whether va is executable and follows a call instruction. */
bool return_address_is_plausible(struct return_cache *cache, const struct unwind_space *space,
	struct unwind_memory *memory, uint64_t va);

/* Whether signal handlers return to the code at va: it calls rt_sigreturn(2). */
bool signal_return_is_at(const struct arch *arch, struct unwind_memory *memory, uint64_t va);

/* Whether a thread stopped at va is in that code, or in its system call. */
bool signal_return_is_around(const struct arch *arch, struct unwind_memory *memory, uint64_t va);

#endif
