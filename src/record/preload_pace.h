#ifndef SONDE_RECORD_PRELOAD_PACE_H
#define SONDE_RECORD_PRELOAD_PACE_H

/*
 * Paces the sampling of threads that carry the preloaded library: at each tick, those that run are
 * sent the library's signal.  Threads that sleep are left alone.
 *
 * It works by itself, in a thread of its own that does nothing else, so that ticks do not wait for
 * stacks to be walked; whom there is to pace it sees in the shared memory.
 */

#include "base/error.h"
#include "record/preload_memory.h"

struct preload_pacer;

/* Begins at once.  memory must outlive it; its header's interval_ns is between ticks. */
must_use struct error *preload_pacer_create(
	const struct preload_memory *memory, struct preload_pacer **pacer);
/* Ends it.  NULL is fine. */
void preload_pacer_destroy(struct preload_pacer *p);

#endif
