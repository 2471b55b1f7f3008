#ifndef SONDE_UNWIND_HISTORY_H
#define SONDE_UNWIND_HISTORY_H

/*
 * A thread's last stack, and the search for it in the stack being walked.  Private to the walker.
 */

#include "unwind/walk.h"

/* Bits of unwind_frame.flags. */
enum {
	FRAME_INTERRUPTED = 1, /* by a signal: its pc is not a return address */
	FRAME_ODD = 2,	       /* its pc was not found right below its sp */
};

/* Begins a walk in this space. */
void history_begin(struct unwind_history *history, const struct unwind_space *space);

/*
 * Passes the walk's next frame, from the leaf outwards.  True: enough frames in a row match the
 * last stack to assume the same for the rest; history_reuse returns it.
 */
bool history_meets(struct unwind_history *history, const struct unwind_frame *frame);

struct history_match {
	size_t run;	/* recognised frames of the walk: its outermost ones so far */
	size_t reused;	/* frames of the last stack from the innermost of those on */
	uint32_t node;	/* the node of that innermost one */
	bool check_due; /* this reuse must be verified */
};
struct history_match history_reuse(struct unwind_history *history);

enum history_verdict { HISTORY_SAME, HISTORY_CHANGED, HISTORY_UNREADABLE };
/* Compares the return addresses of all matching frames with memory. */
enum history_verdict history_verify(
	const struct unwind_history *history, struct unwind_memory *memory);
/* A due check was not possible: it is due again at the next reuse. */
void history_put_off_check(struct unwind_history *history);
/* The match was wrong: never reuse this thread's stacks again. */
void history_distrust(struct unwind_history *history);

#endif
