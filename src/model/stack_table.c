/*
 * Interning of stacks: a table of children with typed ids.
 */
#include "model/stack_table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

void stack_table_init(struct stack_table *t)
{
	*t = (struct stack_table){0};
	child_table_init(&t->children, 0);
}

void stack_table_deinit(struct stack_table *t)
{
	child_table_deinit(&t->children);
	free(t->adopted);
	t->adopted = NULL;
}

void stack_table_adopt(struct stack_table *t, frame_id *frames, size_t count, struct run_list *runs,
	struct arena *arena)
{
	assert(stack_table_count(t) == 1 && count >= 1);
	t->adopted = xrealloc_array(frames, count, sizeof(*frames));
	t->adopted_count = count;
	tree_runs_take(&t->runs, runs, count, arena);
}

/* A duplicate pair, which breaks the contract, keeps its number, for profile_check to find. */
static void enter(struct stack_table *t, struct stack stack)
{
	bool added;

	(void)child_table_at(&t->children, stack.parent.i, stack.frame.i, &added);
	if (!added)
		(void)child_table_push(&t->children, stack.parent.i, stack.frame.i);
}

static void enter_adopted(struct stack_table *t)
{
	frame_id *frames = t->adopted;

	if (likely(frames == NULL))
		return;
	t->adopted = NULL;
	vec_reserve(&t->children.nodes, t->adopted_count + 1);
	for (uint32_t i = 1; i < t->adopted_count; i++)
		enter(t, (struct stack){{tree_runs_parent(&t->runs, i)}, frames[i]});
	free(frames);
}

stack_id stack_table_intern(struct stack_table *t, stack_id parent, frame_id frame)
{
	bool added;

	enter_adopted(t);
	return (stack_id){child_table_at(&t->children, parent.i, frame.i, &added)};
}

size_t stack_table_path(struct stack_table *t, stack_id parent, const frame_id *frames,
	size_t count, size_t new_max, stack_id *stacks)
{
	_Static_assert(sizeof(stack_id) == sizeof(uint32_t) && sizeof(frame_id) == sizeof(uint32_t),
		"ids are the table's numbers");
	enter_adopted(t);
	return child_table_path(&t->children, parent.i, (const uint32_t *)frames, count, new_max,
		(uint32_t *)stacks);
}

stack_id stack_table_push(struct stack_table *t, stack_id parent, frame_id frame)
{
	enter_adopted(t);
	return (stack_id){child_table_push(&t->children, parent.i, frame.i)};
}

stack_id stack_table_find(struct stack_table *t, stack_id parent, frame_id frame)
{
	enter_adopted(t);
	return (stack_id){child_table_find(&t->children, parent.i, frame.i)};
}

static uint32_t parent_of(const void *children, uint32_t i)
{
	return ((const struct child *)children)[i].parent;
}

frame_id *stack_table_take(struct stack_table *t, struct tree_runs *runs, struct arena *arena)
{
	frame_id *frames = t->adopted;
	size_t count = stack_table_count(t);

	if (frames) {
		*runs = t->runs;
		t->adopted = NULL;
		stack_table_deinit(t);
		return frames;
	}
	struct child *children = t->children.nodes.data;
	uint32_t *words = (uint32_t *)children;

	_Static_assert(sizeof(*children) == 3 * sizeof(*words) && offsetof(struct child, key) == 4,
		"the second word of three is the frame");
	tree_runs_make(runs, count, parent_of, children, arena);
	for (size_t i = 0; i < count; i++)
		words[i] = words[3 * i + 1];
	t->children.nodes.data = NULL;
	stack_table_deinit(t);
	return xrealloc_array(words, count, sizeof(*words));
}
