#ifndef SONDE_MODEL_STACK_TABLE_H
#define SONDE_MODEL_STACK_TABLE_H

/*
 * The stack tree while it is built: each pair of (parent, frame) is one node, node 0 is the empty
 * stack.
 */

#include <stddef.h>

#include "base/child_table.h"
#include "base/compiler.h"
#include "model/profile.h"

struct stack_table {
	struct child_table children; /* by frame */
};

/* The table holds the empty stack at once. */
void stack_table_init(struct stack_table *t);
void stack_table_deinit(struct stack_table *t);
static inline size_t stack_table_count(const struct stack_table *t)
{
	return t->children.nodes.count;
}
static inline struct stack stack_table_stack(const struct stack_table *t, stack_id id)
{
	const struct child *c = &t->children.nodes.data[id.i];

	return (struct stack){.parent = {c->parent}, .frame = {c->key}};
}
/* parent must be a node of the table. */
stack_id stack_table_intern(struct stack_table *t, stack_id parent, frame_id frame);
/* builder_stack_path. */
size_t stack_table_path(struct stack_table *t, stack_id parent, const frame_id *frames,
	size_t count, size_t new_max, stack_id *stacks);
/* The same of a pair that is new, as the caller knows, and that interning does not find after. */
stack_id stack_table_push(struct stack_table *t, stack_id parent, frame_id frame);
/* The same, if it is there; else the empty stack. */
stack_id stack_table_find(const struct stack_table *t, stack_id parent, frame_id frame);
/* Hands over the tree as an array of count rows, to be freed with free(); the table is empty after.
 */
must_use returns_owned struct stack *stack_table_take(struct stack_table *t);

#endif
