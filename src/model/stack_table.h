#ifndef SONDE_MODEL_STACK_TABLE_H
#define SONDE_MODEL_STACK_TABLE_H

/*
 * The stack tree while it is built: each pair of (parent, frame) is one node, node 0 is the empty
 * stack.
 *
 * A node holds its first child; only further children are in a hash table of pairs.  Most nodes of
 * a real tree have one child, so most stacks are walked, and made, from a node to its neighbour in
 * memory, where a hash table of all pairs would cost a cache miss or two a step.  A node takes 12
 * bytes, and 8 to 16 more if it is no first child.
 */

#include <stddef.h>

#include "base/compiler.h"
#include "model/profile.h"

struct stack_node {
	struct stack stack;
	uint32_t first_child; /* 0: none yet */
};

struct stack_table {
	struct stack_node *nodes;
	size_t count, capacity;
	uint32_t *slots; /* the nodes that are no first child; 0 is free */
	size_t slot_count,
		slots_used; /* slot_count: 0 or a power of two, at least twice slots_used */
};

/* The table holds the empty stack at once. */
void stack_table_init(struct stack_table *t);
void stack_table_deinit(struct stack_table *t);
/* parent must be a node of the table. */
stack_id stack_table_intern(struct stack_table *t, stack_id parent, frame_id frame);
/* Hands over the tree as an array of count rows, to be freed with free(); the table is empty after.
 */
must_use returns_owned struct stack *stack_table_take(struct stack_table *t);

#endif
