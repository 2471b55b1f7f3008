#ifndef SONDE_ANALYSIS_TICK_THREADS_H
#define SONDE_ANALYSIS_TICK_THREADS_H

/*
 * The tick of a sample where ticks overlap.  Ticks of one stream may overlap, like requests served
 * by several threads; then time alone does not determine the tick that a sample was taken in, but
 * its thread does: a tick belongs to the thread that ended it.  If that is not known, it is the
 * thread whose rows of zones are recorded at its end.
 */

#include "base/arena.h"
#include "model/profile.h"

/* A tick, and the thread it belongs to. */
struct tick_owned {
	uint32_t thread, tick; /* index into profile->threads, profile->ticks */
};

struct tick_threads {
	const bool *overlaps; /* [process]: its ticks overlap */
	/* Of those processes, by thread and start; ticks without rows are left out. */
	const struct tick_owned *owned;
	size_t count;
};

/*
 * first, end: [process], its ticks are profile->ticks[first … end - 1], by start.  The tables live
 * in the arena.
 */
void tick_threads_init(struct tick_threads *t, const struct profile *profile, const uint32_t *first,
	const uint32_t *end, struct arena *arena);
/* Index into profile->ticks of the thread's tick at that time; NO_ID: none. */
uint32_t tick_threads_at(const struct tick_threads *t, const struct profile *profile,
	thread_id thread, uint64_t time_ns);

#endif
