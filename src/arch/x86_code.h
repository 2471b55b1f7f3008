#ifndef SONDE_ARCH_X86_CODE_H
#define SONDE_ARCH_X86_CODE_H

/*
 * x86-64 machine code, one instruction at a time.  For arch/x86_64.c, which all others go through.
 */

#include <stddef.h>

#include "arch/instruction.h"

/* The instruction at bytes[0 .. size), which stands at addr. */
struct arch_instruction x86_decode(const uint8_t *bytes, size_t size, uint64_t addr);

/*
 * Whether the instruction may write to a general register, by the hardware's number.  False only
 * where it certainly does not; calls write to more than they name.
 */
bool x86_may_write(const uint8_t *bytes, size_t size, uint8_t hw_reg);

#endif
