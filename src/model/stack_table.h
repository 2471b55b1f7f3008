#ifndef SONDE_MODEL_STACK_TABLE_H
#define SONDE_MODEL_STACK_TABLE_H

/*
 * The stack tree while it is built: each pair of (parent, frame) is one node, node 0 is the empty
 * stack.
 *
 * A source may hold the whole tree already, with each pair once.  Then its array is taken as it is
 * (stack_table_adopt), which costs 8 bytes a stack and no lookups; only when a further stack is
 * asked for, which is rare, are all of them entered into the table.
 */

#include <stddef.h>

#include "base/child_table.h"
#include "base/compiler.h"
#include "model/profile.h"

struct stack_table {
	struct child_table children; /* by frame; of adopted stacks it has none */
	struct stack *adopted;	     /* NULL: there are none, or they are in the table */
	size_t adopted_count;	     /* the empty stack included */
};

/* The table holds the empty stack at once. */
void stack_table_init(struct stack_table *t);
void stack_table_deinit(struct stack_table *t);
static inline size_t stack_table_count(const struct stack_table *t)
{
	return t->adopted ? t->adopted_count : t->children.nodes.count;
}
static inline struct stack stack_table_stack(const struct stack_table *t, stack_id id)
{
	if (t->adopted)
		return t->adopted[id.i];
	const struct child *c = &t->children.nodes.data[id.i];

	return (struct stack){.parent = {c->parent}, .frame = {c->key}};
}
/*
 * Takes the tree of stacks[count], which was allocated with malloc: stacks[0] is the empty stack,
 * parents come before their children, and no pair is there twice.  The table has no other stacks.
 */
void stack_table_adopt(struct stack_table *t, struct stack *stacks, size_t count);
/* parent must be a node of the table. */
stack_id stack_table_intern(struct stack_table *t, stack_id parent, frame_id frame);
/* builder_stack_path. */
size_t stack_table_path(struct stack_table *t, stack_id parent, const frame_id *frames,
	size_t count, size_t new_max, stack_id *stacks);
/* The same of a pair that is new, as the caller knows, and that interning does not find after. */
stack_id stack_table_push(struct stack_table *t, stack_id parent, frame_id frame);
/* The same, if it is there; else the empty stack. */
stack_id stack_table_find(struct stack_table *t, stack_id parent, frame_id frame);
/* Hands over the tree as an array of count rows, to be freed with free(); the table is empty after.
 */
must_use returns_owned struct stack *stack_table_take(struct stack_table *t);

#endif
