#ifndef SONDE_FORMATS_COMMON_STACK_BUDGET_H
#define SONDE_FORMATS_COMMON_STACK_BUDGET_H

/*
 * Limits the number of stacks of an input.  A few bytes of a file can name a stack that takes a
 * hundred bytes, so the limit depends on the file's size; further stacks are truncated and counted.
 */

#include "model/builder.h"

struct stack_budget {
	uint64_t left;
	uint32_t newest; /* the stack that was made last */
	uint64_t cut;	 /* frames that were left out */
};

/* Any input may have this many. */
#define STACK_BUDGET_ANY 200000u

/*
 * Adds the stack below parent; if the budget is used up, parent itself is the result, and false is
 * returned.
 */
static inline bool stack_budget_take(struct stack_budget *budget, struct builder *builder,
	stack_id parent, frame_id frame, stack_id *stack)
{
	*stack = parent;
	if (budget->left == 0) {
		budget->cut++;
		return false;
	}
	*stack = builder_stack(builder, parent, frame);
	if (stack->i > budget->newest) {
		budget->newest = stack->i;
		budget->left--;
	}
	return true;
}

static inline void stack_budget_note(const struct stack_budget *budget, struct builder *builder)
{
	if (budget->cut)
		builder_note(builder, NOTE_TRUNCATED, budget->cut,
			"frames were left out: there are more stacks than a file of this size may "
			"have");
}

#endif
