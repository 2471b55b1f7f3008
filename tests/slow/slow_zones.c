/*
 * The figures of zones' displays, stack by stack: a zone's time is that of the stacks it stands in,
 * the outermost focus on a stack tells the parent, the innermost one the child.
 */
#include "slow_zones.h"

#include <stdbool.h>

static bool is_same(struct slow_zone a, struct slow_zone b)
{
	return a.zone == b.zone && a.depth == b.depth;
}

/* Where the zone first and last stands in the stack from `from` on; -1: nowhere. */
static int first_of(const struct slow_stack *stack, struct slow_zone zone, int from)
{
	for (int i = from; i < stack->size; i++)
		if (is_same(stack->zone[i], zone))
			return i;
	return -1;
}

static int last_of(const struct slow_stack *stack, struct slow_zone zone)
{
	for (int i = stack->size - 1; i >= 0; i--)
		if (is_same(stack->zone[i], zone))
			return i;
	return -1;
}

static bool ends_with(const struct slow_stack *stack, struct slow_zone zone)
{
	return is_same(stack->zone[stack->size - 1], zone);
}

static void add(struct slow_figures *sum, const struct slow_stack *stack, bool is_own)
{
	sum->hier += stack->self;
	if (is_own) {
		sum->self += stack->self;
		sum->count += stack->count;
	}
}

void slow_spread(struct slow_stacks *stacks)
{
	for (int s = 0; s < stacks->count; s++) {
		struct slow_stack *stack = &stacks->stack[s];

		for (int i = 0; i < stack->size; i++)
			for (int above = 0; above < i; above++)
				stack->zone[i].depth +=
					stack->zone[above].zone == stack->zone[i].zone;
	}
}

struct slow_figures slow_flat(const struct slow_stacks *stacks, struct slow_zone zone)
{
	struct slow_figures sum = {0};

	for (int s = 0; s < stacks->count; s++)
		if (first_of(&stacks->stack[s], zone, 0) >= 0)
			add(&sum, &stacks->stack[s], ends_with(&stacks->stack[s], zone));
	return sum;
}

struct slow_figures slow_parent(
	const struct slow_stacks *stacks, struct slow_zone focus, struct slow_zone parent)
{
	struct slow_figures sum = {0};

	for (int s = 0; s < stacks->count; s++) {
		const struct slow_stack *stack = &stacks->stack[s];
		int outer = first_of(stack, focus, 0);

		if (outer > 0 && is_same(stack->zone[outer - 1], parent))
			add(&sum, stack, ends_with(stack, focus));
	}
	return sum;
}

struct slow_figures slow_child(
	const struct slow_stacks *stacks, struct slow_zone focus, struct slow_zone child)
{
	struct slow_figures sum = {0};

	for (int s = 0; s < stacks->count; s++) {
		const struct slow_stack *stack = &stacks->stack[s];
		int inner = last_of(stack, focus);

		if (inner >= 0 && inner + 1 < stack->size && is_same(stack->zone[inner + 1], child))
			add(&sum, stack, ends_with(stack, child));
	}
	return sum;
}

struct slow_figures slow_recursion(const struct slow_stacks *stacks, struct slow_zone focus)
{
	struct slow_figures sum = {0};

	for (int s = 0; s < stacks->count; s++) {
		const struct slow_stack *stack = &stacks->stack[s];

		if (first_of(stack, focus, 0) != last_of(stack, focus))
			add(&sum, stack, ends_with(stack, focus));
	}
	return sum;
}

struct slow_figures slow_descendant(
	const struct slow_stacks *stacks, struct slow_zone focus, struct slow_zone zone)
{
	struct slow_figures sum = {0};

	for (int s = 0; s < stacks->count; s++) {
		const struct slow_stack *stack = &stacks->stack[s];
		int outer = first_of(stack, focus, 0);

		if (outer >= 0 && !is_same(zone, focus) && first_of(stack, zone, outer) >= 0)
			add(&sum, stack, ends_with(stack, zone));
	}
	return sum;
}
