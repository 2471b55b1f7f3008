#ifndef SONDE_ANALYSIS_STATS_H
#define SONDE_ANALYSIS_STATS_H

/*
 * The statistics summary (semantics.md section 4): what was counted and what was not, and the size
 * of the data behind the other views.
 */

#include "analysis/certificate.h"
#include "analysis/entity_tree.h"

/* One metric of the profile as a whole. */
struct stats_metric {
	int64_t total;
	uint64_t samples; /* with weight in it; UINT64_MAX: not known */
};

struct stats {
	/*
	 * As given by the source; unknown ones are UINT64_MAX. If the source lacks them, the
	 * duration comes from the samples' times and the interval from the CPU time and the count.
	 * Under filters, counted, foreign, critical and guessed are of the shown samples, and
	 * excluded counts those that WHEN left out (foreign, critical and guessed are known if the
	 * profile's stacks give the source's figures without filters); expected, lost, duration and
	 * CPU time remain those of the recording.
	 */
	struct profile_stats sampling;
	/* Of the whole recording. */
	struct certificate certificate;

	const struct stats_metric *metrics; /* [profile->metric_count] */

	int64_t total;	       /* of the metric */
	int64_t recursive;     /* weight of stacks in which an entity occurs repeatedly */
	uint64_t stack_count;  /* distinct ones with weight */
	uint64_t entity_count; /* entities with weight */
	uint32_t depth_max;    /* frames */
	double depth_mean;     /* frames, weighted over the tree; 0 if its weight is 0 */
};

/*
 * tree: of that selection, at the level at which to count recursion, stacks and entities, without
 * others.  metrics live in the arena.
 */
struct stats stats_analyse(
	const struct selection *selection, const struct entity_tree *tree, struct arena *arena);

#endif
