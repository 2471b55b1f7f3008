/*
 * Suffix reuse: between two samples of a thread, the outer part of its stack hardly ever changes,
 * and need not be walked, looked up or interned again.  This makes the cost of a sample independent
 * of the depth of the stack.
 *
 * A frame is recognised by its pc, sp, bp and a hash of three words of its memory.  When
 * UNWIND_REUSE_RUN frames in a row are recognised, the frames outside them are assumed to be
 * unchanged.  This is an inference: outer frames can only change while the inner ones are gone.
 * The same inner frames with the same data return to the same place only in programs that do the
 * same thing over and over, where the outer frames are most likely the same as well.  So one reuse
 * in CHECK_EVERY is verified against the return addresses in memory (fewer for very deep stacks, so
 * that checking costs at most CHECK_FRAMES frames per sample).  If a check fails once, the thread
 * is walked completely from then on.
 *
 * Frames are kept outermost first, so that keeping a stack rewrites only the new frames.
 */
#include "unwind/history.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "unwind/step.h"

enum { CHECK_EVERY = 16, CHECK_FRAMES = 1024 };

struct kept_frame {
	uint64_t pc, sp, bp, print;
	uint32_t node, flags;
};

struct unwind_history {
	VEC(struct kept_frame) frames; /* outermost first */
	uint64_t generation;	       /* generation of the space in which they were walked */
	uint64_t walk_generation;      /* generation of the space of the current walk */
	bool is_usable;		       /* the frames are valid in that space */
	bool has_unknown;	       /* some are in no mapping, or in one that was not open */
	size_t next;		       /* the number of frames that can still be recognised */
	size_t run;		       /* the number of frames recognised in a row */
	size_t unchecked;	       /* reuses since the last one that was checked */
	bool checked;		       /* one was */
	bool put_off;		       /* a check was due, but not possible */
	bool distrusted;
};

struct unwind_history *unwind_history_create(void)
{
	return xalloc(sizeof(struct unwind_history));
}

void unwind_history_destroy(struct unwind_history *history)
{
	if (history == NULL)
		return;
	vec_deinit(&history->frames);
	free(history);
}

void unwind_history_clear(struct unwind_history *history)
{
	history->frames.count = 0;
	history->next = history->run = 0;
	history->distrusted = false;
}

size_t unwind_history_count(const struct unwind_history *history)
{
	return history->distrusted ? 0 : history->frames.count;
}

struct unwind_kept unwind_history_frame(const struct unwind_history *history, size_t i)
{
	const struct kept_frame *f = &history->frames.data[history->frames.count - 1 - i];

	return (struct unwind_kept){f->pc, f->sp, f->print, f->flags == 0};
}

/* Added code changes nothing in a stack whose code was all known. */
static bool is_valid_in(const struct unwind_history *history, const struct unwind_space *space)
{
	if (history->generation == space->generation)
		return true;
	return !history->has_unknown && history->generation >= space->intact_since;
}

void history_begin(struct unwind_history *history, const struct unwind_space *space)
{
	history->walk_generation = space->generation;
	history->is_usable = is_valid_in(history, space);
	history->next = history->is_usable && !history->distrusted ? history->frames.count : 0;
	history->run = 0;
}

static bool is_same(const struct kept_frame *kept, const struct unwind_frame *frame)
{
	return kept->sp == frame->sp && kept->pc == frame->pc && kept->bp == frame->bp &&
	       kept->print == frame->print && kept->flags == frame->flags;
}

bool history_meets(struct unwind_history *history, const struct unwind_frame *frame)
{
	const struct kept_frame *frames = history->frames.data;
	size_t next = history->next;

	while (next && frames[next - 1].sp < frame->sp) {
		next--;
		history->run = 0;
	}
	if (next && is_same(&frames[next - 1], frame)) {
		next--;
		history->run++;
	} else {
		history->run = 0;
	}
	history->next = next;
	return history->run == UNWIND_REUSE_RUN && next;
}

/* Checks the first reuse, then one in CHECK_EVERY, or fewer for very deep stacks. */
static bool is_check_due(const struct unwind_history *history, size_t reused)
{
	size_t every = reused / CHECK_FRAMES > CHECK_EVERY ? reused / CHECK_FRAMES : CHECK_EVERY;

	return !history->checked || history->put_off || history->unchecked + 1 >= every;
}

static bool take_check(struct unwind_history *history, size_t reused)
{
	bool is_due = is_check_due(history, reused);

	history->unchecked = is_due ? 0 : history->unchecked + 1;
	history->checked = true;
	history->put_off = false;
	return is_due;
}

void history_put_off_check(struct unwind_history *history)
{
	history->put_off = true;
}

bool unwind_history_check_due(const struct unwind_history *history)
{
	size_t count = unwind_history_count(history);

	return count > 0 && is_check_due(history, count);
}

struct history_match history_reuse(struct unwind_history *history)
{
	size_t reused = history->next + history->run;

	assert(history->run && reused <= history->frames.count);
	return (struct history_match){
		.run = history->run,
		.reused = reused,
		.node = history->frames.data[reused - 1].node,
		.check_due = take_check(history, reused),
	};
}

enum history_verdict history_verify(
	const struct unwind_history *history, struct unwind_memory *memory)
{
	const struct kept_frame *frames = history->frames.data;

	for (size_t i = history->next; i-- > 0;) {
		uint64_t return_va;
		if (frames[i].flags)
			continue;
		if (!unwind_memory_read(memory, frames[i].sp - 8, &return_va))
			return HISTORY_UNREADABLE;
		if (return_va != frames[i].pc)
			return HISTORY_CHANGED;
	}
	return HISTORY_SAME;
}

void history_distrust(struct unwind_history *history)
{
	history->distrusted = true;
	history->next = history->run = 0;
}

void unwind_history_keep(struct unwind_history *history, const struct unwind_stack *stack)
{
	if ((stack->end != UNWIND_ROOT && stack->end != UNWIND_REUSED) || stack->guessed)
		return;
	history->frames.count = stack->end == UNWIND_REUSED ? stack->reused : 0;
	history->has_unknown &= stack->end == UNWIND_REUSED;
	history->generation = history->walk_generation;
	vec_reserve(&history->frames, history->frames.count + stack->count);
	for (size_t i = stack->count; i-- > 0;) {
		const struct unwind_frame *f = &stack->frames[i];
		history->has_unknown |= (f->object & UNWIND_PENDING) != 0;
		history->frames.data[history->frames.count++] =
			(struct kept_frame){f->pc, f->sp, f->bp, f->print, f->node, f->flags};
	}
}

bool unwind_frame_has_called(const struct unwind_frame *frame)
{
	return !(frame->flags & FRAME_INTERRUPTED);
}

bool unwind_history_ends_like(
	const struct unwind_history *history, const struct unwind_stack *stack, size_t inner)
{
	if (!history->is_usable || inner >= stack->count ||
		stack->count - inner > history->frames.count)
		return false;
	for (size_t i = inner; i < stack->count; i++)
		if (!is_same(&history->frames.data[stack->count - 1 - i], &stack->frames[i]))
			return false;
	return true;
}

uint32_t unwind_history_other_stack(
	const struct unwind_history *history, const struct unwind_stack *stack)
{
	if (!history->is_usable || stack->count == 0)
		return 0;
	uint64_t bp = stack->frames[stack->count - 1].bp;
	for (size_t i = history->frames.count; i-- > 0;) {
		const struct kept_frame *kept = &history->frames.data[i];
		if (kept->flags == FRAME_ODD && kept->bp == bp)
			return kept->node;
	}
	return 0;
}
