/*
 * Translates perf's numbers of registers to DWARF's.  See perf_regs.h.
 */
#include "unwind/perf_regs.h"

/* By perf's number. */
static const struct {
	uint8_t dwarf;	    /* UNWIND_REG_COUNT: of no use */
	bool kept_by_calls; /* a system call's entry need not have saved it */
} perf_registers[] = {
	[0] = {0, false},		 /* ax */
	[1] = {UNWIND_REG_BX, true},	 /* bx */
	[2] = {2, false},		 /* cx */
	[3] = {1, false},		 /* dx */
	[4] = {4, false},		 /* si */
	[5] = {5, false},		 /* di */
	[6] = {UNWIND_REG_BP, false},	 /* bp */
	[7] = {UNWIND_REG_SP, false},	 /* sp */
	[8] = {UNWIND_REG_PC, false},	 /* ip */
	[9] = {UNWIND_REG_COUNT, false}, /* flags */
	[10] = {UNWIND_REG_COUNT, false},
	[11] = {UNWIND_REG_COUNT, false}, /* segments */
	[12] = {UNWIND_REG_COUNT, false},
	[13] = {UNWIND_REG_COUNT, false},
	[14] = {UNWIND_REG_COUNT, false},
	[15] = {UNWIND_REG_COUNT, false},
	[16] = {8, false}, /* r8 */
	[17] = {9, false},
	[18] = {10, false},
	[19] = {11, false},
	[20] = {12, true},
	[21] = {13, true},
	[22] = {14, true},
	[23] = {15, true}, /* r15 */
};

void perf_regs_read(uint64_t mask, bool in_kernel, uint64_t (*next)(void *context), void *context,
	struct unwind_regs *regs)
{
	*regs = (struct unwind_regs){0};
	for (unsigned int i = 0; i < 64; i++) {
		if (!(mask >> i & 1))
			continue;
		uint64_t value = next(context);

		if (i >= ARRAY_SIZE(perf_registers) || perf_registers[i].dwarf >= UNWIND_REG_COUNT)
			continue;
		if (in_kernel && perf_registers[i].kept_by_calls && value == UINT64_MAX)
			continue;
		regs->value[perf_registers[i].dwarf] = value;
		regs->known |= 1u << perf_registers[i].dwarf;
	}
}
