#ifndef SONDE_ANALYSIS_LANES_H
#define SONDE_ANALYSIS_LANES_H

/* What each thread did over time: a lane a thread, in slices of equal length. */

#include "analysis/selection.h"
#include "analysis/time_slices.h"

enum lane_kind {
	LANE_USER,	/* on the CPU, in user code; of profiles without cpu-time, the metric */
	LANE_KERNEL,	/* on the CPU, in the kernel */
	LANE_BLOCKED,	/* off the CPU, waiting */
	LANE_PREEMPTED, /* off the CPU, though it could have run */
	LANE_KIND_COUNT
};
/* "user", "kernel", "blocked", "preempted". */
extern const char *const lane_kind_names[LANE_KIND_COUNT + 1]; /* NULL at the end */

struct lane {
	uint32_t thread; /* NO_ID: the profile does not know threads, so this is all of it */
	int64_t total[LANE_KIND_COUNT];
	const int64_t *weight[LANE_KIND_COUNT]; /* [slices.count]; NULL: nothing */
};

struct lanes {
	struct time_slices slices;
	const struct lane *lanes; /* by process, and in it, the busiest first */
	size_t count;
};

/*
 * The lanes of the threads that have something to show.  metric: shown where the profile has no
 * cpu-time.  slices: from 1 up.  Lives in the arena.  The profile must know times
 * (profile_needs_times).  Takes a step for each sample, and for each slice that a time off the CPU
 * spans.
 */
must_use struct lanes *lanes_analyse(const struct selection *selection, metric_id metric,
	struct time_slices slices, struct arena *arena);
/* The metric of the time on CPUs that lanes show: cpu-time, or `metric` in profiles without it. */
metric_id lanes_metric(const struct profile *profile, metric_id metric);
/* The time from the first to the last shown sample, in that many slices. */
struct time_slices lanes_span(const struct selection *selection, uint32_t count);

#endif
