/*
 * Marks for the thread's handler (preload/marks.c): which parts of its stack are known.
 *
 * What is reused is checked by a copy of the whole stack.  Of a deep one that takes the thread
 * long: 20 us for 5,000 levels of a recursion.  So checks of it wait until that is less than
 * CHECK_BYTES for each sample in the mean.
 */
#include "record/engines/preload/preload_want.h"

/* Stacks no deeper than this are copied whole, whatever is known of them. */
#define SHALLOW_BYTES ((size_t)16 << 10)
#define CHECK_BYTES   ((size_t)2048)

static bool wants_whole(struct preload_want *want, const struct unwind_history *history)
{
	if (!unwind_history_check_due(history) ||
		(want->was_whole && want->samples < want->largest_bytes / CHECK_BYTES))
		return false;
	want->was_whole = true;
	want->samples = 0;
	want->largest_bytes = 0;
	return true;
}

static void mark(struct preload_memory *memory, uint32_t slot, const struct unwind_history *history)
{
	struct exact_mark marks[EXACT_MARKS];
	uint32_t count = exact_marks_choose(history, marks);

	_Static_assert(sizeof(struct exact_mark) == sizeof(struct preload_mark) &&
			       EXACT_MARKS == PRELOAD_MARKS,
		"marks are the same for all");
	preload_memory_mark(memory, slot, (const struct preload_mark *)(const void *)marks, count);
}

void preload_want_next(struct preload_want *want, struct preload_memory *memory, uint32_t slot,
	const struct preload_walked *walked)
{
	bool was_misled = want->has_marks && walked->was_short;

	want->samples++;
	if (walked->stack_bytes > want->largest_bytes)
		want->largest_bytes = walked->stack_bytes;
	if (was_misled)
		marks_trust_lose(&want->trust);
	else if (walked->stack_bytes < SHALLOW_BYTES)
		return;
	want->has_marks = marks_trust_ask(&want->trust) && !wants_whole(want, walked->history);
	if (want->has_marks)
		mark(memory, slot, walked->history);
	else
		preload_memory_mark(memory, slot, NULL, 0);
}

void preload_want_other(struct preload_memory *memory, uint32_t slot,
	const struct unwind_history *history, size_t stack_bytes)
{
	if (stack_bytes < SHALLOW_BYTES || unwind_history_check_due(history))
		preload_memory_mark(memory, slot, NULL, 0);
	else
		mark(memory, slot, history);
}
