#ifndef SONDE_ANALYSIS_TICKS_H
#define SONDE_ANALYSIS_TICKS_H

/*
 * Which tick a sample was taken in.  A tick is a frame of time, from one Prof_update to the next;
 * each process has its own, in one or several streams.  A sample belongs to the tick with start <
 * time ≤ end: (start, end].  A zone's activity in a tick is reported at the tick's end, and a
 * sample represents the time before it, so both are assigned correctly.  If ticks of a stream
 * overlap, the tick is one of the sample's own thread.
 */

#include "analysis/tick_threads.h"
#include "base/arena.h"
#include "model/profile.h"

/* The stream used if none is named: "frame", that of Prof_update. */
#define TICK_STREAM_DEFAULT STR("frame")

/* The ticks of one stream, for each process. */
struct tick_runs {
	const struct profile *profile;
	/* [process]: its ticks are profile->ticks[first … end - 1], in order of time. */
	const uint32_t *first, *end;
	size_t count; /* of all of them */
	struct tick_threads threads;
};

/*
 * stream: its name; data NULL: each process's default one, or if that has no ticks, the process's
 * first stream by name.  Lives in the arena.  ERROR_UNSUPPORTED if the profile has no ticks,
 * ERROR_INPUT if no process has a stream of that name.
 */
must_use struct error *tick_runs_init(struct tick_runs *runs, const struct profile *profile,
	struct str stream, struct arena *arena);
/*
 * Index into profile->ticks of the tick in which a sample was taken; NO_ID: in none, or the profile
 * does not know threads and times.
 */
uint32_t tick_of_sample(const struct tick_runs *runs, size_t sample);

#endif
