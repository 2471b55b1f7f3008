#ifndef SONDE_MODEL_PLACE_RUNS_H
#define SONDE_MODEL_PLACE_RUNS_H

/*
 * Which places are new, told by their order alone.  Who writes a profile without stacks goes
 * through the code of a function from its beginning to its end: most of its places are behind all
 * that were there before, and then need no lookup, and what comes again is mostly among those that
 * came last.  For model/builder alone.
 */

#include <stdbool.h>

#include "base/vec.h"
#include "model/profile.h"

/* What is known of a function's frames, when there are any. */
struct place_run {
	uint64_t address;    /* of the one furthest back: first by address, */
	uint32_t line;	     /* then by line */
	uint32_t begin, end; /* the last frames that ascend one behind the other; 0, 0: none yet */
};

struct place_runs {
	VEC(struct place_run) of_function; /* as long as the last one that has frames needs */
	size_t count;			   /* frames that are known here: the first ones */
};

void place_runs_deinit(struct place_runs *r);
/* That run, made if there is none. */
struct place_run *place_runs_of(struct place_runs *r, function_id function);
/* Whether the frame is behind all of its function's. */
bool place_run_is_behind(const struct place_run *run, const struct frame *f);
/* The frame that is the same among the last ones that ascend; false: it is not there. */
bool place_run_find(const struct place_run *run, const struct frame *frames, const struct frame *f,
	frame_id *id);
/* The frame `f` got the number r->count. */
void place_runs_add(struct place_runs *r, const struct frame *f);

#endif
