#ifndef SONDE_MODEL_MERGE_H
#define SONDE_MODEL_MERGE_H

/*
 * Several profiles as one: their sum, or the difference of two.  Both are linear in the weights, so
 * a view of the result is made by the same code as a view of any profile.
 */

#include "model/profile.h"

/*
 * The union of count ≥ 1 profiles, weights added up.  Rows that say the same are one; processes and
 * threads stay apart.  Metrics are matched by name; what a profile has not counts as 0, which is
 * noted, but for "samples", which are counted where they are known.  Single samples are kept if all
 * have them, with threads, times and zones if all have those; ticks and zone events with threads
 * and times; times are brought onto one line by the times at which the profiles began, where all
 * know that.  Of statistics there is the sum, of the interval the mean, each where all know it.
 *
 * The result is the caller's.  ERROR_INPUT if a metric has another unit in another profile, or a
 * sum exceeds 64 bits; ERROR_UNSUPPORTED if only some have stacks, or are differences, or they
 * were recorded with different WHEN patterns.
 */
must_use struct error *profile_merge(
	const struct profile *const *profiles, size_t count, struct profile **merged);

/*
 * The merger of the runs of one thing, with metrics more: "M (run 1)" to "M (run RUNS)" hold what
 * each profile had of the metric of that name, 0 behind the last profile.  Where no profile has M,
 * or one that is called like those, there are no such metrics.  count ≤ runs.
 */
must_use struct error *profile_merge_runs(const struct profile *const *profiles, size_t count,
	struct str metric, size_t runs, struct profile **merged);
/* Of a difference of two such mergers with as many runs: the metric of run k < runs, on the side
 * that difference_old or difference_new then says.  False: there is none. */
bool profile_find_run(
	const struct profile *difference, struct str metric, size_t k, metric_id *run);

/*
 * new less old: for each metric M of the union three metrics, M with new − old, "M (old)" and "M
 * (new)", in this order; also "samples" if both know how many there were.  The default metric is
 * new's.  row_samples and the statistics are new's; there are no arcs, but where both sides have
 * measured what calls cost: with these costs then, and no calls; the rest is as in a merger of the
 * two.
 */
must_use struct error *profile_difference(const struct profile *old_profile,
	const struct profile *new_profile, struct profile **difference);

/*
 * The same with one metric more, "M (share)" in SHARE_UNIT: the weights of the metric of that name,
 * each side's scaled so that all of it is SHARE_WHOLE.  Sums of shares are rounded once, whatever
 * they are sums of.  Where neither side has M, there is no such metric.  ERROR_UNSUPPORTED if M
 * comes to nothing on a side, or they have no stacks.
 */
must_use struct error *profile_difference_of_shares(const struct profile *old_profile,
	const struct profile *new_profile, struct str metric, struct profile **difference);

/* Parts of a billion. */
#define SHARE_UNIT  STR("ppb")
#define SHARE_WHOLE INT64_C(1000000000)

enum { DIFFERENCE_METRICS = 3 };

/* The metrics of a difference that go with its metric M. */
static inline metric_id difference_old(metric_id metric)
{
	return (metric_id){metric.i / DIFFERENCE_METRICS * DIFFERENCE_METRICS + 1};
}
static inline metric_id difference_new(metric_id metric)
{
	return (metric_id){metric.i / DIFFERENCE_METRICS * DIFFERENCE_METRICS + 2};
}

#endif
