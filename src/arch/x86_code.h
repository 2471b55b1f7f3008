#ifndef SONDE_ARCH_X86_CODE_H
#define SONDE_ARCH_X86_CODE_H

/*
 * x86-64 machine code, one instruction at a time: how long it is, and what it does to the stack, to
 * the frame pointer and to the flow of control.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* DWARF's numbers of the registers that count here. */
enum { X86_BX = 3, X86_BP = 6, X86_SP = 7, X86_NO_REG = 255 };

enum x86_kind {
	X86_BAD,	   /* no instruction, or cut off; size is 1 */
	X86_OTHER,	   /* changes nothing that counts here */
	X86_NOP,	   /* fills up */
	X86_PUSH,	   /* reg; sp -= 8 */
	X86_POP,	   /* reg; sp += 8 */
	X86_MOVE_SP,	   /* sp += value */
	X86_SP_FROM_BP,	   /* sp = bp + value */
	X86_ALIGN_SP,	   /* sp changes by an unknown amount */
	X86_SWITCH_SP,	   /* sp comes from elsewhere: it is reg + value, or reg is X86_NO_REG */
	X86_SP_FROM_STACK, /* sp = what is in memory at sp + value */
	X86_BP_FROM_SP,	   /* bp = sp + value */
	X86_ZERO_BP,	   /* xor of bp with itself */
	X86_BP_FROM_BP,	   /* bp = what is in memory at bp + value */
	X86_SWITCH_BP,	   /* bp comes from elsewhere */
	X86_STORE,	   /* reg to sp + value */
	X86_LOAD,	   /* reg from sp + value */
	X86_LEAVE,
	X86_CALL,
	X86_JUMP,
	X86_BRANCH, /* a conditional jump */
	X86_RETURN,
	X86_STOP,    /* hlt, ud2, int3 */
	X86_ADDRESS, /* some register = target, an address near the instruction */
};

struct x86_instruction {
	enum x86_kind kind;
	uint8_t size;	 /* in bytes; at least 1 */
	uint8_t reg;	 /* that is pushed, popped, stored, loaded; X86_NO_REG: none */
	bool has_target; /* of calls and jumps: they are direct; X86_ADDRESS has one always */
	int32_t value;
	uint64_t target;
};

/*
 * The instruction at bytes[0 .. size), which stands at addr.
 */
struct x86_instruction x86_decode(const uint8_t *bytes, size_t size, uint64_t addr);

/*
 * Whether the instruction may write to a general register, by the hardware's number. False only
 * where it certainly does not; calls write to more than they name.
 */
bool x86_may_write(const uint8_t *bytes, size_t size, uint8_t hw_reg);

#endif
