#ifndef SONDE_MODEL_STACK_TABLE_H
#define SONDE_MODEL_STACK_TABLE_H

/*
 * The stack tree while it is built: each pair of (parent, frame) is one node, node 0 is the empty
 * stack.
 *
 * A source may hold the whole tree already, with each pair once.  Then it is adopted as it is
 * (stack_table_adopt), which costs four bytes a stack and no lookups.  In the rare case that
 * another stack is requested, all of them are entered into the table.
 */

#include <stddef.h>

#include "base/child_table.h"
#include "base/compiler.h"
#include "model/profile.h"

struct stack_table {
	struct child_table children; /* by frame; without the adopted stacks */
	frame_id *adopted;	     /* NULL: there are none, or they are in the table */
	size_t adopted_count;	     /* including the empty stack */
	struct tree_runs runs;	     /* of adopted stacks */
};

/* From the start the table holds the empty stack. */
void stack_table_init(struct stack_table *t);
void stack_table_deinit(struct stack_table *t);
static inline size_t stack_table_count(const struct stack_table *t)
{
	return t->adopted ? t->adopted_count : t->children.nodes.count;
}
static inline struct stack stack_table_stack(const struct stack_table *t, stack_id id)
{
	if (t->adopted)
		return (struct stack){
			.parent = {tree_runs_parent(&t->runs, id.i)}, .frame = t->adopted[id.i]};
	const struct child *c = &t->children.nodes.data[id.i];

	return (struct stack){.parent = {c->parent}, .frame = {c->key}};
}
/*
 * Takes a tree: frames[count], which was allocated with malloc, and the runs of its nodes, which
 * become the arena's.  Node 0 is the empty stack, its frame NO_ID; no frame occurs twice under one
 * parent.  The table has no other stacks.
 */
void stack_table_adopt(struct stack_table *t, frame_id *frames, size_t count, struct run_list *runs,
	struct arena *arena);
/* parent must be a node of the table. */
stack_id stack_table_intern(struct stack_table *t, stack_id parent, frame_id frame);
/* builder_stack_path. */
size_t stack_table_path(struct stack_table *t, stack_id parent, const frame_id *frames,
	size_t count, size_t new_max, stack_id *stacks);
/* The same for a pair that the caller knows to be new; interning does not find it later. */
stack_id stack_table_push(struct stack_table *t, stack_id parent, frame_id frame);
/* The same, if it exists; else the empty stack. */
stack_id stack_table_find(struct stack_table *t, stack_id parent, frame_id frame);
/*
 * Returns the frames of all stacks, to be freed with free(), and sets the runs, in the arena;
 * empties the table.
 */
must_use returns_owned frame_id *stack_table_take(
	struct stack_table *t, struct tree_runs *runs, struct arena *arena);

#endif
