#ifndef SONDE_UNWIND_EXPRESSION_H
#define SONDE_UNWIND_EXPRESSION_H

/*
 * DWARF expressions as call frame information uses them.
 */

#include "base/str.h"
#include "unwind/walk.h"

enum expression_result {
	EXPRESSION_GOOD,
	EXPRESSION_NO_MEMORY, /* it reads memory that is not available */
	EXPRESSION_BAD,	      /* it is invalid, or needs an unknown register */
};

/*
 * Evaluates an expression; initial, if not NULL, is on the stack at its beginning.  At most 4,096
 * operations and 64 values on the stack.
 */
must_use enum expression_result expression_evaluate(const struct arch *arch, struct str expression,
	const struct unwind_regs *regs, struct unwind_memory *memory, const uint64_t *initial,
	uint64_t *result);

#endif
