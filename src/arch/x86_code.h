#ifndef SONDE_ARCH_X86_CODE_H
#define SONDE_ARCH_X86_CODE_H

/*
 * x86-64 machine code, one instruction at a time.  Only arch/x86_64.c uses this; all other code
 * goes through struct arch.
 */

#include <stddef.h>

#include "arch/instruction.h"

/* Decodes the instruction at bytes[0 .. size), at address addr. */
struct arch_instruction x86_decode(const uint8_t *bytes, size_t size, uint64_t addr);

/*
 * Whether the instruction may write to a general register, given by its hardware number.  False
 * only if it certainly does not; calls write to registers that they do not name.
 */
bool x86_may_write(const uint8_t *bytes, size_t size, uint8_t hw_reg);

#endif
