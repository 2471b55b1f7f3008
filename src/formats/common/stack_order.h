#ifndef SONDE_FORMATS_COMMON_STACK_ORDER_H
#define SONDE_FORMATS_COMMON_STACK_ORDER_H

/*
 * The stack tree in an order that does not depend on how it was built: each stack before those
 * called from it, siblings by a rank of their frames.
 */

#include "model/profile.h"

struct stack_order {
	uint32_t *stack; /* [row]: the stack there; row 0 is stack 0 */
	uint32_t *level; /* [row]: its depth; 0 for the empty stack */
	uint32_t *row;	 /* [stack]: the inverse of stack */
	size_t count;
};

/* frame_rank[frame]: distinct, below frame_count.  Linear in the number of stacks and frames. */
void stack_order_init(struct stack_order *o, const struct profile *p, const uint32_t *frame_rank);
void stack_order_deinit(struct stack_order *o);

#endif
