#ifndef SONDE_MODEL_PLACE_RUNS_H
#define SONDE_MODEL_PLACE_RUNS_H

/*
 * Finds which places are new by their order alone.  A profiler that writes no stacks goes through
 * the code of a function from beginning to end: most places come after all earlier ones, and then
 * need no lookup, and a place that recurs is mostly among the last ones.  For model/builder alone.
 */

#include <stdbool.h>

#include "base/vec.h"
#include "model/profile.h"

/* What is known of a function's frames, if it has any. */
struct place_run {
	uint64_t address;    /* of the greatest frame: first by address, */
	uint32_t line;	     /* then by line */
	uint32_t begin, end; /* the last frames in ascending order; 0, 0: none yet */
};

struct place_runs {
	VEC(struct place_run) of_function; /* as long as the last one that has frames needs */
	size_t count;			   /* frames known here: the first ones */
};

void place_runs_deinit(struct place_runs *r);
/* The function's run, made if there is none. */
struct place_run *place_runs_of(struct place_runs *r, function_id function);
/* Whether the frame comes after all of its function's. */
bool place_run_is_behind(const struct place_run *run, const struct frame *f);
/* The equal frame among the last ascending ones; false: there is none. */
bool place_run_find(const struct place_run *run, const struct frame *frames, const struct frame *f,
	frame_id *id);
/* Adds the frame `f`, which got the number r->count. */
void place_runs_add(struct place_runs *r, const struct frame *f);

#endif
