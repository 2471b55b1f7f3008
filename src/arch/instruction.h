#ifndef SONDE_ARCH_INSTRUCTION_H
#define SONDE_ARCH_INSTRUCTION_H

/*
 * An instruction, reduced to what unwind rules depend on: its length, and its effect on the stack
 * pointer (sp), the frame pointer (bp) and control flow.  Registers are slots (arch/arch.h).
 */

#include <stdbool.h>
#include <stdint.h>

enum instruction_kind {
	INSTRUCTION_BAD,	   /* invalid or truncated */
	INSTRUCTION_OTHER,	   /* no effect that matters here */
	INSTRUCTION_NOP,	   /* padding */
	INSTRUCTION_PUSH,	   /* reg; sp -= 8 */
	INSTRUCTION_POP,	   /* reg; sp += 8 */
	INSTRUCTION_MOVE_SP,	   /* sp += value */
	INSTRUCTION_SP_FROM_BP,	   /* sp = bp + value */
	INSTRUCTION_ALIGN_SP,	   /* sp changes by an unknown amount */
	INSTRUCTION_SWITCH_SP,	   /* sp comes from elsewhere: reg + value, if reg is not none */
	INSTRUCTION_SP_FROM_STACK, /* sp = memory at sp + value */
	INSTRUCTION_BP_FROM_SP,	   /* bp = sp + value */
	INSTRUCTION_ZERO_BP,	   /* bp = 0: the outermost frame's */
	INSTRUCTION_BP_FROM_BP,	   /* bp = memory at bp + value */
	INSTRUCTION_SWITCH_BP,	   /* bp comes from elsewhere */
	INSTRUCTION_STORE,	   /* reg to sp + value */
	INSTRUCTION_LOAD,	   /* reg from sp + value */
	INSTRUCTION_LEAVE,	   /* sp = bp, then bp is popped */
	INSTRUCTION_CALL,
	INSTRUCTION_JUMP,
	INSTRUCTION_BRANCH, /* a conditional jump */
	INSTRUCTION_RETURN,
	INSTRUCTION_STOP,    /* control does not continue: a trap */
	INSTRUCTION_ADDRESS, /* some register = target, an address near the instruction */
};

struct arch_instruction {
	enum instruction_kind kind;
	uint8_t size;	 /* in bytes; at least 1 */
	uint8_t reg;	 /* the register pushed, popped, stored or loaded; ARCH_REG_NONE: none */
	bool has_target; /* a direct call or jump; ADDRESS always has one */
	bool is_fill;	 /* used by compilers and linkers between functions */
	bool is_mark;	 /* marks targets of indirect branches, so starts of functions */
	int32_t value;
	uint64_t target;
};

#endif
