#ifndef SONDE_ANALYSIS_HEAT_H
#define SONDE_ANALYSIS_HEAT_H

/*
 * A heat map over time: the weight of a selection by slices of time.  HEAT_ROWS of them stand in a
 * column, so that what happens every second, say, or stops for some milliseconds, is a pattern.
 * (B. Gregg, "Subsecond Offset Heat Maps", 2017.)
 */

#include "analysis/selection.h"

/* Slices in a column. */
#define HEAT_ROWS 20u
/* Columns at most. */
#define HEAT_COLUMNS_MAX 60u

struct heat {
	uint64_t begin_ns;     /* of the first slice, since the recording's start */
	uint64_t slice_ns;     /* 1, 2 or 5 times a power of ten, over HEAT_ROWS */
	uint32_t slices;       /* a multiple of HEAT_ROWS; 0: nothing is shown */
	const int64_t *weight; /* [slice] */
	/*
	 * What counts as much, without sign: 98 in 100 of the slices that are not empty have that
	 * or less (nearest rank).  So a few outliers, as "[lost]" at the end, leave the others
	 * their shades.
	 */
	int64_t much;
	/* The same slices by the other metrics. */
	const struct heat *const *others;
};

/*
 * By metrics[count]; the first is the result's own, the rest its others.  Time is from the column
 * of the first sample that is shown to that of the last.  A sample is at its time; a time off the
 * CPU is spread over the time that it took. The profile must know times (profile_needs_times).
 * Lives in the arena.
 */
must_use struct heat *heat_analyse(const struct selection *selection, const metric_id *metrics,
	size_t count, struct arena *arena);

#endif
