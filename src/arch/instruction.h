#ifndef SONDE_ARCH_INSTRUCTION_H
#define SONDE_ARCH_INSTRUCTION_H

/*
 * An instruction as far as rules are read off it: how long it is, and what it does to the stack
 * pointer (sp), to the frame pointer (bp) and to the flow of control.  Registers are slots
 * (arch/arch.h).
 */

#include <stdbool.h>
#include <stdint.h>

enum instruction_kind {
	INSTRUCTION_BAD,	   /* no instruction, or cut off */
	INSTRUCTION_OTHER,	   /* changes nothing that counts here */
	INSTRUCTION_NOP,	   /* fills up */
	INSTRUCTION_PUSH,	   /* reg; sp -= 8 */
	INSTRUCTION_POP,	   /* reg; sp += 8 */
	INSTRUCTION_MOVE_SP,	   /* sp += value */
	INSTRUCTION_SP_FROM_BP,	   /* sp = bp + value */
	INSTRUCTION_ALIGN_SP,	   /* sp changes by an unknown amount */
	INSTRUCTION_SWITCH_SP,	   /* sp comes from elsewhere: reg + value, if reg is not none */
	INSTRUCTION_SP_FROM_STACK, /* sp = what is in memory at sp + value */
	INSTRUCTION_BP_FROM_SP,	   /* bp = sp + value */
	INSTRUCTION_ZERO_BP,	   /* bp = 0: the outermost frame's */
	INSTRUCTION_BP_FROM_BP,	   /* bp = what is in memory at bp + value */
	INSTRUCTION_SWITCH_BP,	   /* bp comes from elsewhere */
	INSTRUCTION_STORE,	   /* reg to sp + value */
	INSTRUCTION_LOAD,	   /* reg from sp + value */
	INSTRUCTION_LEAVE,	   /* sp = bp, then bp is popped */
	INSTRUCTION_CALL,
	INSTRUCTION_JUMP,
	INSTRUCTION_BRANCH, /* a conditional jump */
	INSTRUCTION_RETURN,
	INSTRUCTION_STOP,    /* control does not go on: a trap */
	INSTRUCTION_ADDRESS, /* some register = target, an address near the instruction */
};

struct arch_instruction {
	enum instruction_kind kind;
	uint8_t size;	 /* in bytes; at least 1 */
	uint8_t reg;	 /* that is pushed, popped, stored, loaded; ARCH_REG_NONE: none */
	bool has_target; /* of calls and jumps: they are direct; ADDRESS has one always */
	bool is_fill;	 /* compilers and linkers put it between functions */
	bool is_mark;	 /* it marks what indirect branches may lead to, so functions' starts */
	int32_t value;
	uint64_t target;
};

#endif
