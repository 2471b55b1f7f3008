#ifndef SONDE_ANALYSIS_HEAT_H
#define SONDE_ANALYSIS_HEAT_H

/*
 * A heat map over time: the weight of a selection by slices of time.  Each column has HEAT_ROWS
 * slices, so that events every second, say, or pauses of some milliseconds, form a pattern.  (B.
 * Gregg, "Subsecond Offset Heat Maps", 2017.)
 */

#include "analysis/selection.h"

/* Slices in a column. */
#define HEAT_ROWS 20u
/* Most columns. */
#define HEAT_COLUMNS_MAX 60u

struct heat {
	uint64_t begin_ns;     /* of the first slice, since the recording's start */
	uint64_t slice_ns;     /* 1, 2 or 5 times a power of ten, over HEAT_ROWS */
	uint32_t slices;       /* a multiple of HEAT_ROWS; 0: nothing is shown */
	const int64_t *weight; /* [slice] */
	/*
	 * The weight that counts as heavy, without sign: 98 % of the non-empty slices have that or
	 * less (nearest rank).  So a few outliers, such as "[lost]" at the end, do not make the
	 * others pale.
	 */
	int64_t much;
	/* The same slices by the other metrics. */
	const struct heat *const *others;
};

/*
 * By metrics[count]; the first is the result's own, the rest its others.  The map runs from the
 * column of the first shown sample to that of the last.  A sample counts at its time; off-CPU time
 * is spread over its duration.  The profile must know times (profile_needs_times).  Lives in the
 * arena.
 */
must_use struct heat *heat_analyse(const struct selection *selection, const metric_id *metrics,
	size_t count, struct arena *arena);

#endif
