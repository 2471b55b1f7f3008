#ifndef SONDE_UNWIND_HISTORY_H
#define SONDE_UNWIND_HISTORY_H

/*
 * A thread's last stack, and the search for it in the stack being walked.  Private to the walker.
 */

#include "unwind/walk.h"

/* What unwind_frame.flags tells of a frame. */
enum {
	FRAME_INTERRUPTED = 1, /* by a signal: its pc is not a return address */
	FRAME_ODD = 2,	       /* its pc was not found right below its sp */
};

/* Begins a walk in the given state of a space. */
void history_begin(struct unwind_history *history, uint64_t generation);

/*
 * Shows the walk's next frame, from the leaf outwards.  True: so many frames in a row are those of
 * the last stack that the rest is taken to be as well: history_reuse says which.
 */
bool history_meets(struct unwind_history *history, const struct unwind_frame *frame);

struct history_match {
	size_t run;	/* frames of the walk that were recognised: its outermost ones so far */
	size_t reused;	/* frames of the last stack from the innermost of those on */
	uint32_t node;	/* of that innermost one */
	bool check_due; /* this is one of the reuses that are to be verified */
};
struct history_match history_reuse(struct unwind_history *history);

enum history_verdict { HISTORY_SAME, HISTORY_CHANGED, HISTORY_UNREADABLE };
/* Compares the return addresses of all frames of the match with what memory holds. */
enum history_verdict history_verify(
	const struct unwind_history *history, struct unwind_memory *memory);
/* The check that was due could not be made: it is due again at the next reuse. */
void history_put_off_check(struct unwind_history *history);
/* The match was wrong: never reuse this thread's stacks again. */
void history_distrust(struct unwind_history *history);

#endif
