#ifndef SONDE_MODEL_MERGE_H
#define SONDE_MODEL_MERGE_H

/*
 * Several profiles as one: their sum, or the difference of two.  Both are linear in the weights, so
 * a view of the result is made by the same code as a view of any profile.
 */

#include "model/profile.h"

struct common_notes;

/*
 * The union of count ≥ 1 profiles, weights added up.  Equal rows become one; processes and threads
 * stay apart.  Metrics are matched by name; one that a profile lacks counts as 0, with a note,
 * except "samples", which are counted where they are known.  Single samples are kept if all
 * profiles have them, with threads, times and zones if all have those; ticks and zone events are
 * kept with threads and times.  Times are aligned by the profiles' start times, if all know
 * theirs.  Statistics are summed and the interval is averaged, each if all know it.
 *
 * The result is the caller's.  ERROR_INPUT if a metric has different units in two profiles, or a
 * sum exceeds 64 bits; ERROR_UNSUPPORTED if only some have stacks, or only some are differences, or
 * they were recorded with different WHEN patterns.
 */
must_use struct error *profile_merge(
	const struct profile *const *profiles, size_t count, struct profile **merged);

/*
 * The merger of what a store has: the result is from `source`, and no note counts the profiles that
 * lack a metric.  notes: notes of the profiles that are not in them, so that they can be merged
 * step by step; NULL: none.
 */
must_use struct error *profile_merge_stored(const struct profile *const *profiles, size_t count,
	struct str source, const struct common_notes *notes, struct profile **merged);

/*
 * The merger of several runs, with more metrics: "M (run 1)" to "M (run RUNS)" hold each profile's
 * weights of the metric M, and 0 after the last profile.  If no profile has M, or one has a metric
 * with one of those names, there are none.  count ≤ runs.
 */
must_use struct error *profile_merge_runs(const struct profile *const *profiles, size_t count,
	struct str metric, size_t runs, struct profile **merged);
/*
 * In a difference of two such mergers with the same number of runs: the metric of run k < runs;
 * difference_old and difference_new then give its sides.  False: there is none.
 */
bool profile_find_run(
	const struct profile *difference, struct str metric, size_t k, metric_id *run);

/*
 * new minus old: for each metric M of the union three metrics, M with new − old, "M (old)" and "M
 * (new)", in this order; also "samples" if both know how many there were.  The default metric,
 * row_samples and the statistics are new's.  There are arcs only if both sides have measured what
 * calls cost: then with these costs, and no calls.  The rest is as in a merger of the two.
 */
must_use struct error *profile_difference(const struct profile *old_profile,
	const struct profile *new_profile, struct profile **difference);

/*
 * The same with one more metric, "M (share)" in SHARE_UNIT: the weights of the metric M, each
 * side's scaled so that they sum to SHARE_WHOLE. A sum of shares is rounded once, however many it
 * sums.  If neither side has M, there is no such metric.  ERROR_UNSUPPORTED if a side's M sums to
 * zero, or they have no stacks.
 */
must_use struct error *profile_difference_of_shares(const struct profile *old_profile,
	const struct profile *new_profile, struct str metric, struct profile **difference);

/* Parts of a billion. */
#define SHARE_UNIT  STR("ppb")
#define SHARE_WHOLE INT64_C(1000000000)

enum { DIFFERENCE_METRICS = 3 };

/* The metrics "M (old)" and "M (new)" of a difference's metric M. */
static inline metric_id difference_old(metric_id metric)
{
	return (metric_id){metric.i / DIFFERENCE_METRICS * DIFFERENCE_METRICS + 1};
}
static inline metric_id difference_new(metric_id metric)
{
	return (metric_id){metric.i / DIFFERENCE_METRICS * DIFFERENCE_METRICS + 2};
}

#endif
