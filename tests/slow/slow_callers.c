/*
 * Plain slow attributed weights.  See slow_callers.h.
 */
#include "slow_callers.h"

#include <string.h>

static bool same_stack(const struct slow_stack *a, const struct slow_stack *b)
{
	return a->depth == b->depth &&
	       (a->depth == 0 || memcmp(a->names, b->names, a->depth * sizeof(*a->names)) == 0);
}

void slow_stacks_merge(struct slow_stacks *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->stacks.count; i++)
		for (size_t k = 0; k < i; k++)
			if (same_stack(&s->stacks.data[i], &s->stacks.data[k])) {
				s->stacks.data[k].weight += s->stacks.data[i].weight;
				s->stacks.data[i].weight = 0;
				break;
			}
	for (size_t i = 0; i < s->stacks.count; i++)
		if (s->stacks.data[i].weight != 0)
			s->stacks.data[kept++] = s->stacks.data[i];
	s->stacks.count = kept;
}

/* Whether the run ends before place `end` of the stack. */
static bool ends_before(const struct slow_stack *stack, const struct slow_run *run, uint32_t end)
{
	if (end < run->length)
		return false;
	for (uint32_t i = 0; i < run->length; i++)
		if (!(run->places[stack->names[end - run->length + i]] >> i & 1))
			return false;
	return true;
}

/* Where the innermost occurrence ends; 0: there is none. */
static uint32_t innermost(const struct slow_stack *stack, const struct slow_run *run)
{
	uint32_t last = 0;

	for (uint32_t end = 1; end <= stack->depth; end++)
		if (ends_before(stack, run, end))
			last = end;
	return last;
}

static bool is_called_by(
	const struct slow_stack *stack, const struct slow_run *run, uint32_t end, uint32_t name)
{
	return name == (end == run->length ? NO_ID : stack->names[end - run->length - 1]);
}

static bool calls(const struct slow_stack *stack, uint32_t end, uint32_t name)
{
	return end < stack->depth && stack->names[end] == name;
}

int64_t slow_run_exclusive(const struct slow_stacks *s, const struct slow_run *run)
{
	int64_t sum = 0;

	for (size_t i = 0; i < s->stacks.count; i++) {
		const struct slow_stack *stack = &s->stacks.data[i];
		if (stack->depth > 0 && ends_before(stack, run, stack->depth))
			sum += stack->weight;
	}
	return sum;
}

int64_t slow_run_inclusive(const struct slow_stacks *s, const struct slow_run *run)
{
	int64_t sum = 0;

	for (size_t i = 0; i < s->stacks.count; i++)
		if (innermost(&s->stacks.data[i], run))
			sum += s->stacks.data[i].weight;
	return sum;
}

int64_t slow_from_caller(const struct slow_stacks *s, const struct slow_run *run, uint32_t name)
{
	int64_t sum = 0;

	for (size_t i = 0; i < s->stacks.count; i++) {
		const struct slow_stack *stack = &s->stacks.data[i];
		uint32_t end = innermost(stack, run);
		if (end && is_called_by(stack, run, end, name))
			sum += stack->weight;
	}
	return sum;
}

int64_t slow_to_callee(const struct slow_stacks *s, const struct slow_run *run, uint32_t name)
{
	int64_t sum = 0;

	for (size_t i = 0; i < s->stacks.count; i++) {
		const struct slow_stack *stack = &s->stacks.data[i];
		uint32_t end = innermost(stack, run);
		if (end && calls(stack, end, name))
			sum += stack->weight;
	}
	return sum;
}

int64_t slow_from_caller_by_walk(
	const struct slow_stacks *s, const struct slow_run *run, uint32_t name)
{
	int64_t sum = 0;

	for (size_t i = 0; i < s->stacks.count; i++) {
		const struct slow_stack *stack = &s->stacks.data[i];
		uint32_t before = 0;
		for (uint32_t end = 1; end <= stack->depth; end++) {
			if (!ends_before(stack, run, end))
				continue;
			if (before && is_called_by(stack, run, before, name))
				sum -= stack->weight;
			if (is_called_by(stack, run, end, name))
				sum += stack->weight;
			before = end;
		}
	}
	return sum;
}

int64_t slow_to_callee_by_walk(
	const struct slow_stacks *s, const struct slow_run *run, uint32_t name)
{
	int64_t sum = 0;

	for (size_t i = 0; i < s->stacks.count; i++) {
		const struct slow_stack *stack = &s->stacks.data[i];
		uint32_t before = 0;
		for (uint32_t end = 1; end <= stack->depth; end++) {
			if (!ends_before(stack, run, end))
				continue;
			if (before && calls(stack, before, name))
				sum -= stack->weight;
			if (calls(stack, end, name))
				sum += stack->weight;
			before = end;
		}
	}
	return sum;
}

static void see(struct slow_edge *edge, bool is_innermost)
{
	edge->innermost |= is_innermost;
	edge->elsewhere |= !is_innermost;
}

struct slow_edge slow_caller_edge(
	const struct slow_stacks *s, const struct slow_run *run, uint32_t name)
{
	struct slow_edge edge = {0};

	for (size_t i = 0; i < s->stacks.count; i++) {
		const struct slow_stack *stack = &s->stacks.data[i];
		for (uint32_t end = 1; end <= stack->depth; end++)
			if (ends_before(stack, run, end) && is_called_by(stack, run, end, name))
				see(&edge, end == innermost(stack, run));
	}
	return edge;
}

struct slow_edge slow_callee_edge(
	const struct slow_stacks *s, const struct slow_run *run, uint32_t name)
{
	struct slow_edge edge = {0};

	for (size_t i = 0; i < s->stacks.count; i++) {
		const struct slow_stack *stack = &s->stacks.data[i];
		for (uint32_t end = 1; end <= stack->depth; end++)
			if (ends_before(stack, run, end) && calls(stack, end, name))
				see(&edge, end == innermost(stack, run));
	}
	return edge;
}
