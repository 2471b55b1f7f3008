#ifndef SONDE_UNWIND_HEURISTICS_SCAN_H
#define SONDE_UNWIND_HEURISTICS_SCAN_H

/*
 * Finds the caller of code without rules that another function jumped to, in that function's frame.
 * Private to the walker.
 */

#include "unwind/return_address.h"
#include "unwind/step.h"

enum { SCAN_CACHE_SIZE = 64 };

/* Where the search ended last, by stack pointer and space. */
struct scan_cache {
	struct {
		uint64_t sp, generation;
		uint64_t va; /* where the return address was */
	} slots[SCAN_CACHE_SIZE];
};

struct scan {
	struct return_cache *returns;
	struct scan_cache *cache;
	const struct unwind_space *space;
	struct unwind_memory *memory;
	bool interrupted; /* the frame made no call */
};

/* STEP_CALLER or STEP_NO_RULE; regs are of the frame, which has no rules. */
enum step scan_step(const struct scan *scan, struct unwind_regs *regs);

#endif
