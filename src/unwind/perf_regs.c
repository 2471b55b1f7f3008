/*
 * Translates perf's numbers of registers to slots.  See perf_regs.h.
 */
#include "unwind/perf_regs.h"

void perf_regs_read(const struct arch *arch, uint64_t mask, bool in_kernel,
	uint64_t (*next)(void *context), void *context, struct unwind_regs *regs)
{
	*regs = (struct unwind_regs){0};
	for (unsigned int i = 0; i < 64; i++) {
		if (!(mask >> i & 1))
			continue;
		uint64_t value = next(context);

		if (i >= arch->perf_count || arch->perf_regs[i].reg >= UNWIND_REG_COUNT)
			continue;
		if (in_kernel && arch->perf_regs[i].unsaved_in_kernel && value == UINT64_MAX)
			continue;
		regs->value[arch->perf_regs[i].reg] = value;
		regs->known |= 1u << arch->perf_regs[i].reg;
	}
}
