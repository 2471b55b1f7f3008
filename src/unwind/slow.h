#ifndef SONDE_UNWIND_SLOW_H
#define SONDE_UNWIND_SLOW_H

/* Steps that the walker's loop does not do itself: complete rows, and signal frames. */

#include "obj/cfi.h"
#include "unwind/step.h"

/*
 * Steps out of a frame by one of the table's slow rules. interrupted: a signal interrupted the
 * frame, so it did not make a call.
 */
enum step slow_step(const struct arch *arch, const struct cfi_table *table,
	const struct cfi_slow_rule *rule, bool interrupted, struct unwind_regs *regs,
	struct unwind_memory *memory);

/*
 * Steps out of the frame that returns from a signal handler: arch->signal_offset locates the
 * registers that the kernel saved.
 */
enum step signal_step(
	const struct arch *arch, struct unwind_regs *regs, struct unwind_memory *memory);

#endif
