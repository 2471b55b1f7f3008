#ifndef SONDE_UNWIND_STEP_H
#define SONDE_UNWIND_STEP_H

/* Definitions shared by the steps out of a frame.  Private to the walker. */

#include <string.h>

#include "unwind/walk.h"

/* The result of a step out of a frame; only after the first two, the registers are the caller's. */
enum step {
	STEP_CALLER,	  /* to a frame that made a call: pc is a return address */
	STEP_INTERRUPTED, /* to a frame that a signal interrupted: pc is where it continues */
	STEP_ROOT,
	STEP_NO_MEMORY,
	STEP_NO_RULE,
	STEP_NO_PROGRESS,
};

enum {
	UNWIND_BIT_BX = 1u << UNWIND_REG_BX,
	UNWIND_BIT_BP = 1u << UNWIND_REG_BP,
	UNWIND_BIT_SP = 1u << UNWIND_REG_SP,
	UNWIND_BIT_PC = 1u << UNWIND_REG_PC,
	/* The registers that every step follows. */
	UNWIND_BITS_FOLLOWED = UNWIND_BIT_BX | UNWIND_BIT_BP | UNWIND_BIT_SP | UNWIND_BIT_PC,
};

static inline bool unwind_memory_has(const struct unwind_memory *m, uint64_t va, uint64_t size)
{
	uint64_t all = m->high_va - m->low_va;

	return likely(all >= size && va - m->low_va <= all - size);
}

/* The 8 bytes at va. */
static inline bool unwind_memory_read(struct unwind_memory *m, uint64_t va, uint64_t *value)
{
	if (likely(unwind_memory_has(m, va, sizeof(*value)))) {
		memcpy(value, m->bytes + (va - m->low_va), sizeof(*value));
		return true;
	}
	return m->read && m->read(m, va, value);
}

static inline bool unwind_regs_know(const struct unwind_regs *regs, unsigned int reg)
{
	return (regs->known >> reg & 1) != 0;
}

static inline void unwind_regs_set(struct unwind_regs *regs, unsigned int reg, uint64_t value)
{
	regs->value[reg] = value;
	regs->known |= 1u << reg;
}

#endif
