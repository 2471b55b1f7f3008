#ifndef SONDE_ANALYSIS_ZONE_BARS_H
#define SONDE_ANALYSIS_ZONE_BARS_H

/*
 * The zones of threads over time, as nested bars: what a page draws below a thread's lane.  However
 * many zones there were, there are only as many bars as can be seen.
 */

#include "analysis/selection.h"
#include "base/arena.h"

/* Levels of zones below _global that have bars. */
#define ZONE_BARS_DEPTH 6u

/* One zone, from entering to leaving it; or several short ones in a row, of the same depth. */
struct zone_bar {
	uint32_t thread;
	uint32_t depth; /* 0: directly below _global, which has no bar */
	uint32_t stack; /* the zone stack that it is, or that most of its time was spent in */
	uint32_t count; /* of zones that it stands for */
	uint64_t start_ns, end_ns;
	uint64_t busy_ns; /* in these zones: of one, all of it */
	bool is_measured; /* by events of entering and leaving; else as samples saw it */
};

struct zone_bars {
	const struct zone_bar *bars; /* by thread as asked, in it by depth and time */
	size_t count;
	uint32_t levels_max; /* of the zones in these threads, also those too deep for bars */
};

struct zone_bars_wanted {
	const uint32_t *threads; /* [thread_count] of the profile, each once */
	size_t thread_count;
	uint64_t from_ns, to_ns; /* what is outside has no bars; one that is partly in it has */
	uint64_t least_ns;	 /* from 1 up: shorter zones share bars of at most a few of these */
};

/*
 * Zones that the profile has events of are exact, whatever filters but those of threads keep.  For
 * other threads, a zone lasts from the first to the last of consecutive shown samples in it: a
 * sample on the CPU stands for the time before it, one off the CPU for the time that it lasted.
 * The profile must know threads and times.  Lives in the arena.  Takes a step for each sample, and
 * a few for each event of these threads.
 */
must_use struct zone_bars *zone_bars_analyse(const struct selection *selection,
	const struct zone_bars_wanted *wanted, struct arena *arena);

#endif
