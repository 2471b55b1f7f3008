#ifndef SONDE_UNWIND_GUESS_H
#define SONDE_UNWIND_GUESS_H

/* Steps out of code without unwind rules.  Private to the walker. */

#include "unwind/step.h"

enum { GUESS_CACHE_SIZE = 1024 };

/* Cached checks of return addresses, by address and space. */
struct guess_cache {
	struct {
		uint64_t va, generation;
		bool after_call;
	} slots[GUESS_CACHE_SIZE];
};

/*
 * Steps out of a frame without rules. interrupted: its pc is not a return address, so it may be at
 * any point of a function.
 */
enum step guess_step(struct guess_cache *cache, const struct unwind_space *space, bool interrupted,
	struct unwind_regs *regs, struct unwind_memory *memory);

/* Whether signal handlers return to the code at va: it calls rt_sigreturn. */
bool guess_is_signal_return(const struct arch *arch, struct unwind_memory *memory, uint64_t va);

/* Whether a thread stopped at va is in that code, or in its system call. */
bool guess_is_in_signal_return(const struct arch *arch, struct unwind_memory *memory, uint64_t va);

/* Whether va is executable and follows a call instruction. */
bool guess_is_return_address(struct guess_cache *cache, const struct unwind_space *space,
	struct unwind_memory *memory, uint64_t va);

#endif
