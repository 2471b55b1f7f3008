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
 * mask: the registers present, bit n is perf's number n; words: their values in order. in_kernel:
 * the sample was taken in the kernel, which reports registers that it did not save as -1 instead of
 * their value.  Skips registers that the walker does not use.
 */
void perfstream_regs(const struct arch *arch, uint64_t mask, bool in_kernel,
	const struct perfstream_words *words, struct unwind_regs *regs);

#endif
