/*
 * A function's figures, one place at a time.  See slow_annotate.h.
 */
#include "slow_annotate.h"

static const struct frame *frame_of(const struct profile *p, stack_id stack)
{
	return &p->frames[p->stack_frame[stack.i].i];
}

/* Whether the innermost frame of a stack is at place i, or inlined at it by the same calls. */
static bool is_at_place(
	const struct profile *p, const struct annotation *a, stack_id stack, uint32_t i)
{
	const struct annotate_place *place = &a->places[i];

	if (stack.i == 0)
		return false;
	const struct frame *frame = frame_of(p, stack);
	bool is_own = frame->function.i == a->function.i;

	if (frame->function.i != place->function.i || frame->file.i != place->file.i ||
		frame->line != place->line)
		return false;
	if (place->parent == NO_ID)
		return is_own;
	return !is_own && frame->is_inline &&
	       is_at_place(p, a, profile_parent(p, stack), place->parent);
}

struct annotate_figures slow_annotate_place(
	const struct profile *p, const struct annotation *a, size_t i, metric_id metric)
{
	struct annotate_figures sum = {0, 0};

	for (uint32_t s = 0; s < p->stack_count; s++) {
		int64_t weight = profile_weight(p, metric.i, s);
		bool holds = false;

		for (stack_id at = {s}; at.i != 0; at = profile_parent(p, at))
			holds |= is_at_place(p, a, at, (uint32_t)i);
		sum.exclusive += is_at_place(p, a, (stack_id){s}, (uint32_t)i) ? weight : 0;
		sum.inclusive += holds ? weight : 0;
	}
	return sum;
}

/* The frame of the function's own code that a stack's innermost frame is inlined into, or is. */
static stack_id own_code(const struct profile *p, const struct annotation *a, stack_id stack)
{
	while (stack.i != 0 && frame_of(p, stack)->is_inline)
		stack = profile_parent(p, stack);
	if (stack.i != 0 && frame_of(p, stack)->function.i != a->function.i)
		stack.i = 0;
	return stack;
}

static bool is_in(const struct profile *p, stack_id stack, uint64_t low, uint64_t high)
{
	return stack.i != 0 && frame_of(p, stack)->obj_addr >= low &&
	       frame_of(p, stack)->obj_addr < high;
}

struct annotate_figures slow_annotate_address(const struct profile *p, const struct annotation *a,
	uint64_t low, uint64_t high, metric_id metric)
{
	struct annotate_figures sum = {0, 0};

	for (uint32_t s = 0; s < p->stack_count; s++) {
		int64_t weight = profile_weight(p, metric.i, s);
		bool holds = false;

		for (stack_id at = {s}; at.i != 0; at = profile_parent(p, at))
			holds |= is_in(p, own_code(p, a, at), low, high);
		sum.exclusive += is_in(p, own_code(p, a, (stack_id){s}), low, high) ? weight : 0;
		sum.inclusive += holds ? weight : 0;
	}
	return sum;
}
