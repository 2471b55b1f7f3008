/*
 * Translates perf's numbers of registers to slots.  See regs.h.
 */
#include "perfstream/regs.h"

#include "arch/arch.h"

void perfstream_regs(const struct arch *arch, uint64_t mask, bool in_kernel,
	const struct perfstream_words *words, struct unwind_regs *regs)
{
	size_t at = 0;

	*regs = (struct unwind_regs){0};
	for (unsigned int i = 0; i < 64 && at < words->count; i++) {
		if (!(mask >> i & 1))
			continue;
		uint64_t value = perfstream_word(words, at++);

		if (i >= arch->perf_count || arch->perf_regs[i].reg >= UNWIND_REG_COUNT)
			continue;
		if (in_kernel && arch->perf_regs[i].unsaved_in_kernel && value == UINT64_MAX)
			continue;
		regs->value[arch->perf_regs[i].reg] = value;
		regs->known |= 1u << arch->perf_regs[i].reg;
	}
}
