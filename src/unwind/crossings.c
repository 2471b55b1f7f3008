/*
 * A crossing is recognised by the place of the call, the function that was called there and the
 * frame pointer.  Go's runtime calls one function on the thread's own stack from one place for each
 * purpose, and a goroutine that waits for it keeps its frames, whatever thread runs it.  So the
 * same crossing mostly has the same callers.  The table forgets what collides: it is a cache.
 */
#include "unwind/crossings.h"

#include "base/hash.h"
#include "unwind/history.h"

/* The crossing out of the frame at that position, which has an inner one. */
static struct unwind_crossing crossing_at(
	uint32_t owner, const struct unwind_stack *stack, size_t position)
{
	const struct unwind_frame *frame = &stack->frames[position];

	return (struct unwind_crossing){
		.pc = frame->pc, .bp = frame->bp, .inner_pc = frame[-1].pc, .owner = owner};
}

static size_t slot_of(const struct unwind_crossing *c)
{
	return hash_pair(hash_pair(c->pc, c->bp), hash_pair(c->inner_pc, c->owner)) %
	       UNWIND_CROSSINGS;
}

void unwind_crossings_keep(
	struct unwind_crossings *crossings, uint32_t owner, const struct unwind_stack *stack)
{
	for (size_t i = 2; i < stack->count; i++) {
		if (stack->frames[i].flags != FRAME_ODD)
			continue;
		struct unwind_crossing c = crossing_at(owner, stack, i - 1);

		c.node = stack->frames[i].node;
		crossings->slots[slot_of(&c)] = c;
	}
}

uint32_t unwind_crossings_find(
	const struct unwind_crossings *crossings, uint32_t owner, const struct unwind_stack *stack)
{
	if (stack->count < 2)
		return 0;
	struct unwind_crossing c = crossing_at(owner, stack, stack->count - 1);
	const struct unwind_crossing *slot = &crossings->slots[slot_of(&c)];
	bool is_same = slot->pc == c.pc && slot->bp == c.bp && slot->inner_pc == c.inner_pc &&
		       slot->owner == owner;

	return is_same ? slot->node : 0;
}
