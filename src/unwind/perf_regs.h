#ifndef SONDE_UNWIND_PERF_REGS_H
#define SONDE_UNWIND_PERF_REGS_H

/*
 * Registers as perf events dump them: in the order of perf's own numbers, which need not be
 * DWARF's.
 */

#include <stdbool.h>
#include <stdint.h>

#include "unwind/walk.h"

/*
 * mask: which registers there are, bit n perf's number n; next gives their values one by one.
 * in_kernel: taken in the kernel, where registers that it had no need to save are given as -1,
 * which is not their value.  What the walker has no use for is passed over.
 */
void perf_regs_read(const struct arch *arch, uint64_t mask, bool in_kernel,
	uint64_t (*next)(void *context), void *context, struct unwind_regs *regs);

#endif
