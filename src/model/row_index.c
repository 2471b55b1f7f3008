/*
 * The rows of stacks: a list while they come in order, else a table.  See row_index.h.
 */
#include "model/row_index.h"

#include <assert.h>

/* How far the table reaches past a new stack, so that not every new one makes it grow. */
#define STACKS_MORE 64

void row_index_init(struct row_index *ix)
{
	*ix = (struct row_index){.count = 1};
}

void row_index_deinit(struct row_index *ix)
{
	vec_deinit(&ix->stacks);
	vec_deinit(&ix->table);
}

void row_index_expect(struct row_index *ix, size_t stacks)
{
	ix->expected = stacks + STACKS_MORE;
	if (ix->has_table)
		vec_reserve(&ix->table, ix->expected);
}

static void table_reach(struct row_index *ix, stack_id stack)
{
	if (stack.i >= ix->table.count)
		vec_extend(&ix->table, (size_t)stack.i + STACKS_MORE);
}

void row_index_tabulate(struct row_index *ix)
{
	if (ix->has_table)
		return;
	ix->has_table = true;
	vec_reserve(&ix->table, ix->expected);
	if (ix->stacks.count)
		table_reach(ix, ix->stacks.data[ix->stacks.count - 1]);
	for (size_t i = 0; i < ix->stacks.count; i++)
		ix->table.data[ix->stacks.data[i].i] = (uint32_t)i + 1;
	vec_deinit(&ix->stacks);
}

uint32_t row_index_add(struct row_index *ix, stack_id stack)
{
	assert(row_index_find(ix, stack) == 0);
	if (ix->stacks.count && stack.i < ix->stacks.data[ix->stacks.count - 1].i)
		row_index_tabulate(ix);
	if (ix->has_table)
		row_index_set(ix, stack, ix->count);
	else
		vec_push(&ix->stacks, stack);
	return ix->count++;
}

void row_index_set(struct row_index *ix, stack_id stack, uint32_t row)
{
	row_index_tabulate(ix);
	table_reach(ix, stack);
	ix->table.data[stack.i] = row;
}
