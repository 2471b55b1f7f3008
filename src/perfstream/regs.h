#ifndef SONDE_PERFSTREAM_REGS_H
#define SONDE_PERFSTREAM_REGS_H

/*
 * The user registers of a sample: in the order of perf's own numbers, which need not be DWARF's.
 */

#include <stdbool.h>
#include <stdint.h>

#include "perfstream/record.h"
#include "unwind/walk.h"

/*
 * mask: which registers there are, bit n perf's number n; words: their values, one by one.
 * in_kernel: taken in the kernel, where registers that it had no need to save are given as -1,
 * which is not their value.  What the walker has no use for is passed over.
 */
void perfstream_regs(const struct arch *arch, uint64_t mask, bool in_kernel,
	const struct perfstream_words *words, struct unwind_regs *regs);

#endif
