#ifndef SONDE_ANALYSIS_ZONES_H
#define SONDE_ANALYSIS_ZONES_H

/*
 * What is known of zones besides exclusive and inclusive weight (semantics.md section 5): how often
 * they were entered, how deep they recur, and how all this is distributed over ticks.
 *
 * Ticks are those of one stream of each process that filters keep; every one counts in averages and
 * ranks, as zero if a zone did nothing in it.  Weight outside ticks is in no figure of ticks.
 * Inclusive weight in a tick is that of the stacks that contain the zone, each once, as in the
 * whole profile.
 */

#include "analysis/functions.h"
#include "analysis/selection.h"

/* A weight over ticks. */
struct zone_ranks {
	int64_t median, p95, max; /* by nearest rank: the ⌈p·n⌉-th of n */
};

struct zone_row {
	int64_t entries;    /* of a difference: new less old */
	uint32_t depth_max; /* most times that it recurs in one stack; 0: not recursive */
	uint64_t ticks;	    /* in which it has inclusive weight */
	/* Sums over the ticks, without weight outside ticks. */
	int64_t exclusive, inclusive, entries_in_ticks;
	uint64_t slowest; /* number of the tick with the most inclusive; UINT64_MAX: none */
	struct zone_ranks exclusive_ranks, inclusive_ranks;
};

struct zones {
	const struct zone_row *rows; /* [functions->count], as functions->rows */
	bool knows_entries;
	/* How many ticks; 0: none are known, and figures of ticks are meaningless. */
	uint64_t tick_count;
	struct str stream; /* of these ticks; data NULL: each process's default one */
	/* The same of the tree's others. */
	const struct zones *const *others;
};

/*
 * functions: of a tree at LEVEL_ZONE of that selection, spread or not, and not inverted.  metrics[1
 * + tree->other_count]: the metric of each of its trees.  entries: the index among them of the one
 * that counts entries; SIZE_MAX: none.  Takes a step for each sample, and in each tick for each
 * node of the tree that the tick touches.  Lives in the arena.
 */
must_use struct zones *zones_analyse(const struct selection *selection,
	const struct functions *functions, const metric_id *metrics, size_t entries,
	struct arena *arena);

/* What threads spend outside zones that end no ticks of the shown stream, while others do. */
struct zones_frameless {
	size_t threads; /* 0: there are none, or it is not known who ends frames */
	int64_t weight; /* zone-time */
};

/*
 * The selection without that time; the same if there is none.  Lives in the arena; what is not
 * changed, is the selection's.
 */
must_use const struct selection *zones_without_frameless(
	const struct selection *selection, struct arena *arena, struct zones_frameless *frameless);

#endif
