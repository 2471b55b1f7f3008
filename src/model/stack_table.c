/*
 * Interning of stacks.  See stack_table.h.
 */
#include "model/stack_table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"

static uint64_t stack_hash(struct stack s)
{
	return hash_u64(((uint64_t)s.parent.i << 32 | s.frame.i) + 0x9e3779b97f4a7c15u);
}

static bool stack_same(struct stack a, struct stack b)
{
	return a.parent.i == b.parent.i && a.frame.i == b.frame.i;
}

static void nodes_push(struct stack_table *t, struct stack stack)
{
	assert(t->count < UINT32_MAX);
	if (t->count == t->capacity) {
		t->capacity = t->capacity ? t->capacity * 2 : 64;
		t->nodes = xrealloc_array(t->nodes, t->capacity, sizeof(*t->nodes));
	}
	t->nodes[t->count++] = (struct stack_node){.stack = stack};
}

void stack_table_init(struct stack_table *t)
{
	*t = (struct stack_table){0};
	nodes_push(t, (struct stack){.parent = {0}, .frame = {NO_ID}});
}

void stack_table_deinit(struct stack_table *t)
{
	free(t->nodes);
	free(t->slots);
	*t = (struct stack_table){0};
}

/* The slot that holds the stack, or the free one where it belongs. */
static uint32_t *slot_of(const struct stack_table *t, struct stack stack)
{
	size_t mask = t->slot_count - 1;
	size_t i = stack_hash(stack) & mask;

	while (t->slots[i] && !stack_same(t->nodes[t->slots[i]].stack, stack))
		i = (i + 1) & mask;
	return &t->slots[i];
}

static void slots_grow(struct stack_table *t)
{
	uint32_t *old = t->slots;
	size_t old_count = t->slot_count;

	t->slot_count = old_count ? old_count * 2 : 256;
	t->slots = xcalloc(t->slot_count, sizeof(*t->slots));
	for (size_t i = 0; i < old_count; i++)
		if (old[i])
			*slot_of(t, t->nodes[old[i]].stack) = old[i];
	free(old);
}

static uint32_t intern_further_child(struct stack_table *t, struct stack stack)
{
	if ((t->slots_used + 1) * 2 > t->slot_count)
		slots_grow(t);
	uint32_t *slot = slot_of(t, stack);
	if (*slot == 0) {
		*slot = (uint32_t)t->count;
		t->slots_used++;
		nodes_push(t, stack);
	}
	return *slot;
}

stack_id stack_table_intern(struct stack_table *t, stack_id parent, frame_id frame)
{
	struct stack stack = {.parent = parent, .frame = frame};
	uint32_t first = t->nodes[parent.i].first_child;

	if (first == 0) {
		first = (uint32_t)t->count;
		t->nodes[parent.i].first_child = first;
		nodes_push(t, stack);
		return (stack_id){first};
	}
	if (t->nodes[first].stack.frame.i == frame.i)
		return (stack_id){first};
	return (stack_id){intern_further_child(t, stack)};
}

struct stack *stack_table_take(struct stack_table *t)
{
	struct stack *stacks = (struct stack *)t->nodes;
	size_t count = t->count;

	/* In place: a row of the result never reaches past the node that it is read from. */
	for (size_t i = 0; i < count; i++) {
		struct stack stack = t->nodes[i].stack;
		memcpy(&stacks[i], &stack, sizeof(stack));
	}
	t->nodes = NULL;
	stack_table_deinit(t);
	return xrealloc_array(stacks, count, sizeof(*stacks));
}
