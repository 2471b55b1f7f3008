/*
 * The stack tree as runs of callees.  See stack_runs.h.
 */
#include "model/stack_runs.h"

#include "base/alloc.h"
#include "model/profile.h"

static size_t runs_count(const struct stack *stacks, size_t count)
{
	size_t runs = 1;

	for (size_t i = 1; i < count; i++)
		runs += stacks[i].parent.i != i - 1;
	return runs;
}

void stack_runs_make(
	struct stack_runs *runs, const struct stack *stacks, size_t count, struct arena *arena)
{
	size_t run_count = runs_count(stacks, count), words = count / 64 + 1, next = 1;
	uint32_t *first = ARENA_ARRAY(arena, uint32_t, run_count + 1);
	uint32_t *parent = ARENA_ARRAY(arena, uint32_t, run_count);
	uint64_t *begins = ARENA_ARRAY(arena, uint64_t, words);
	uint32_t *before = ARENA_ARRAY(arena, uint32_t, words);

	begins[0] = 1;
	for (size_t i = 1; i < count; i++) {
		if (i % 64 == 0)
			before[i / 64] = (uint32_t)next;
		if (stacks[i].parent.i == i - 1)
			continue;
		begins[i / 64] |= UINT64_C(1) << i % 64;
		first[next] = (uint32_t)i;
		parent[next++] = stacks[i].parent.i;
	}
	first[run_count] = (uint32_t)count;
	*runs = (struct stack_runs){.count = run_count,
		.first = first,
		.parent = parent,
		.begins = begins,
		.before = before};
}

uint32_t *stack_runs_depths(const struct stack_runs *r)
{
	uint32_t *depth = xcalloc(r->count, sizeof(*depth));

	for (size_t i = 1; i < r->count; i++) {
		uint32_t outer = stack_runs_find(r, r->parent[i]);

		depth[i] = depth[outer] + (r->parent[i] - r->first[outer]) + 1;
	}
	return depth;
}
