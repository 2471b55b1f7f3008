#ifndef SONDE_ANALYSIS_TICK_THREADS_H
#define SONDE_ANALYSIS_TICK_THREADS_H

/*
 * Whose ticks are at once.  Ticks of one stream may overlap, as the requests do that several
 * threads serve; then time alone does not tell which one a sample was taken in, but its thread
 * does: a tick belongs to the thread whose rows of zones are recorded at its end.
 */

#include "base/arena.h"
#include "model/profile.h"

/* A tick, and the thread that it is of. */
struct tick_owned {
	uint32_t thread, tick; /* index into profile->threads, profile->ticks */
};

struct tick_threads {
	const bool *overlaps; /* [process]: its ticks do */
	/* Of those processes, by thread and start; ticks without rows are not there. */
	const struct tick_owned *owned;
	size_t count;
};

/*
 * first, end: [process], its ticks are profile->ticks[first … end - 1], by start.  What is made
 * lives in the arena.
 */
void tick_threads_init(struct tick_threads *t, const struct profile *profile, const uint32_t *first,
	const uint32_t *end, struct arena *arena);
/* Index into profile->ticks of the thread's tick at that time; NO_ID: there is none. */
uint32_t tick_threads_at(const struct tick_threads *t, const struct profile *profile,
	thread_id thread, uint64_t time_ns);

#endif
