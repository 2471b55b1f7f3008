#ifndef SONDE_ANALYSIS_STATS_H
#define SONDE_ANALYSIS_STATS_H

/*
 * The statistics summary (semantics.md section 4): what was counted and what was not, and the size
 * of what the other views are made of.
 */

#include "analysis/entity_tree.h"

/* One metric of the profile as a whole. */
struct stats_metric {
	int64_t total;
	uint64_t samples; /* that have weight in it; UINT64_MAX: not known */
};

struct stats {
	/*
	 * As the source says, unknown ones UINT64_MAX.  Where the source is silent, the duration is
	 * taken from the samples' times and the interval from the CPU time and the count.
	 * Under filters: counted, foreign and critical are of the samples that are shown, excluded
	 * those that WHEN left out (foreign and critical are known if the profile's stacks
	 * give the source's figures without filters); expected, lost, duration and CPU time stay
	 * the recording's.
	 */
	struct profile_stats sampling;

	const struct stats_metric *metrics; /* [profile->metric_count] */

	int64_t total;	       /* of the metric */
	int64_t recursive;     /* weight of stacks in which an entity stands more than once */
	uint64_t stack_count;  /* distinct ones that have weight */
	uint64_t entity_count; /* that have weight */
	uint32_t depth_max;    /* frames */
	double depth_mean;     /* frames, over the weight in the tree; 0 where that is 0 */
};

/*
 * tree: of that selection, at the level at which recursion, stacks and entities are to be counted,
 * without others.  metrics live in the arena.
 */
struct stats stats_analyse(
	const struct selection *selection, const struct entity_tree *tree, struct arena *arena);

#endif
