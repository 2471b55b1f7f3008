/*
 * A pre-order of the stack tree by two counting sorts, by frame and then by parent, and one walk.
 * The walk keeps its position in the tree itself instead of on a stack: trees can be a million
 * levels deep.
 */
#include "formats/common/stack_order.h"

#include <stdlib.h>

#include "base/alloc.h"

/*
 * Turns counts into group starts: starts[k + 1] has the count of group k, and starts[k] becomes its
 * start.
 */
static void sum_up(uint32_t *starts, size_t groups)
{
	for (size_t k = 0; k < groups; k++)
		starts[k + 1] += starts[k];
}

/* All stacks except 0, by the rank of their frame. */
static uint32_t *sort_by_frame(const struct profile *p, const uint32_t *frame_rank)
{
	uint32_t *starts = xcalloc(p->frame_count + 1, sizeof(*starts));
	uint32_t *sorted = xcalloc(p->stack_count, sizeof(*sorted));

	for (size_t i = 1; i < p->stack_count; i++)
		starts[frame_rank[p->stack_frame[i].i] + 1]++;
	sum_up(starts, p->frame_count);
	for (size_t i = 1; i < p->stack_count; i++)
		sorted[starts[frame_rank[p->stack_frame[i].i]]++] = (uint32_t)i;
	free(starts);
	return sorted;
}

/* Groups the sorted stacks by parent: children[end[s - 1]..end[s]) are those of s. */
static uint32_t *group_by_parent(const struct profile *p, const uint32_t *sorted, uint32_t *end)
{
	uint32_t *children = xcalloc(p->stack_count, sizeof(*children));

	for (uint32_t i = 1; i < p->stack_count; i++)
		end[profile_stack_parent(p, i) + 1]++;
	sum_up(end, p->stack_count);
	for (size_t k = 0; k + 1 < p->stack_count; k++)
		children[end[profile_stack_parent(p, sorted[k])]++] = sorted[k];
	return children;
}

static void walk(struct stack_order *o, const struct profile *p, const uint32_t *children,
	const uint32_t *end)
{
	uint32_t *next = xcalloc(o->count, sizeof(*next));
	uint32_t at = 0, level = 0;
	size_t row = 1;

	for (size_t s = 1; s < o->count; s++)
		next[s] = end[s - 1];
	while (row < o->count) {
		if (next[at] == end[at]) {
			at = profile_stack_parent(p, at);
			level--;
			continue;
		}
		at = children[next[at]++];
		level++;
		o->stack[row] = at;
		o->level[row] = level;
		o->row[at] = (uint32_t)row++;
	}
	free(next);
}

void stack_order_init(struct stack_order *o, const struct profile *p, const uint32_t *frame_rank)
{
	uint32_t *end = xcalloc(p->stack_count + 1, sizeof(*end));
	uint32_t *sorted = sort_by_frame(p, frame_rank);
	uint32_t *children = group_by_parent(p, sorted, end);

	free(sorted);
	o->count = p->stack_count;
	o->stack = xcalloc(o->count, sizeof(*o->stack));
	o->level = xcalloc(o->count, sizeof(*o->level));
	o->row = xcalloc(o->count, sizeof(*o->row));
	walk(o, p, children, end);
	free(children);
	free(end);
}

void stack_order_deinit(struct stack_order *o)
{
	free(o->stack);
	free(o->level);
	free(o->row);
	*o = (struct stack_order){0};
}
