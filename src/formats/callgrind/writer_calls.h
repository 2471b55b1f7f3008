#ifndef SONDE_FORMATS_CALLGRIND_WRITER_CALLS_H
#define SONDE_FORMATS_CALLGRIND_WRITER_CALLS_H

/*
 * The calls of a profile as callgrind files have them: by caller, callee and the place of the call,
 * with what they cost from call to return.
 *
 * From stacks: the weight of those that hold the call.  A stack that holds the same two functions
 * one after the other several times counts once, at the outermost place, and not at all for calls
 * of a function to itself; so no call costs more than there is, and a function's own weight with
 * that of its calls of others is its inclusive weight wherever it is in no cycle.
 */

#include "model/profile.h"

struct callgrind_call {
	function_id caller, callee;
	frame_id place; /* a frame of the caller; NO_ID: not known where */
	uint64_t count; /* how often, or samples; 0: not known */
};

struct callgrind_calls {
	struct callgrind_call *calls; /* by caller */
	size_t count;
	int64_t *cost; /* [call * metric_count + metric] */
};

void callgrind_calls_init(struct callgrind_calls *c, const struct profile *p);
void callgrind_calls_deinit(struct callgrind_calls *c);

#endif
