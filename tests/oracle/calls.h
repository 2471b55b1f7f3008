#ifndef SONDE_TESTS_ORACLE_CALLS_H
#define SONDE_TESTS_ORACLE_CALLS_H

/*
 * The true call stack, kept by watching every instruction: calls push, anything that moves sp
 * outwards pops (returns, longjmp, exceptions), signals push what they interrupt.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/user.h>

#include "base/vec.h"

struct call {
	/* What the unwinder should say of the caller, or of what was interrupted. */
	uint64_t pc, sp;
	uint64_t slot; /* the call is over once sp is above this */
	bool is_signal;
	uint64_t stack_low, stack_high; /* a signal's alternate stack, if it runs there */
};

struct calls {
	VEC(struct call) stack; /* outermost first */
};

void calls_deinit(struct calls *c);
/*
 * One instruction was executed; code is what stood at before->rip, top the 8 bytes at after->rsp.
 */
void calls_step(struct calls *c, const struct user_regs_struct *before,
	const struct user_regs_struct *after, const uint8_t code[16], uint64_t top);
/*
 * A handler was entered; before is what it interrupted, stack_ the bounds that the kernel noted for
 * the alternate stack, top the 8 bytes at after->rsp.
 */
void calls_signal(struct calls *c, const struct user_regs_struct *before,
	const struct user_regs_struct *after, uint64_t stack_low, uint64_t stack_size,
	uint64_t top);
/* Ends the calls that sp, going outwards, has left behind. */
void calls_pop(struct calls *c, uint64_t sp);

#endif
