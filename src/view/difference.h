#ifndef SONDE_VIEW_DIFFERENCE_H
#define SONDE_VIEW_DIFFERENCE_H

/*
 * Reports of the difference of two profiles (model/merge.h).  They are reports as any, with two
 * further metrics, old and new; what makes them different is here: which metrics are asked for, and
 * which rows changed by more than chance.
 */

#include "view/report.h"

/* Places among a report's others. */
enum {
	DIFFERENCE_OLD,
	DIFFERENCE_NEW,
	DIFFERENCE_SHOWN,
	/* Behind those that are shown, where significance can be told. */
	DIFFERENCE_OLD_SAMPLES = DIFFERENCE_SHOWN,
	DIFFERENCE_NEW_SAMPLES,
	DIFFERENCE_SAMPLES_END
};

/* Runs of a side, at most. */
enum { DIFFERENCE_RUNS_MAX = 64 };

struct difference {
	const struct profile *old_profile, *new_profile;
	metric_id others[DIFFERENCE_SAMPLES_END + 2 * DIFFERENCE_RUNS_MAX];
	size_t hidden_count; /* others that are not shown: samples, and figures of runs */
	bool is_counted;     /* the samples are known */
	/* How many runs each side is the sum of, if their figures are known and can be tested, else
	 * 0; those of old are others[first_run] and on, then those of new; of each all it has. */
	size_t old_runs, new_runs, first_run;
	double run_totals[2 * DIFFERENCE_RUNS_MAX]; /* in the same order */
	metric_id shown; /* of the difference: the metric that figures are of */
	/* Figures are shares of `measured`, else they are that metric's own. */
	bool is_normalized;
	metric_id measured;
	/*
	 * The part of samples that are the new profile's where nothing has changed, as both have
	 * an interval of their own.
	 */
	double new_share;
};

/*
 * Makes *d that of a profile's metric, which is one that old and new go with: the profile is
 * profile_difference(old, new), or profile_difference_of_shares for figures that are shares of it.
 */
void difference_init(struct difference *d, const struct profile *profile,
	const struct profile *old_profile, const struct profile *new_profile, metric_id metric,
	bool is_normalized);
/*
 * Before difference_ask: the profile is that of two mergers (profile_merge_runs) of so many runs;
 * three or more in all.
 */
void difference_add_runs(
	struct difference *d, const struct profile *profile, size_t old_runs, size_t new_runs);
/* Makes the query one for that difference; d must live as long. */
void difference_ask(const struct difference *d, struct report_query *query);

/*
 * Finds which rows have changed by more than chance, each in its own figure: sets report->marks,
 * where samples were counted and there is such a figure.
 */
void difference_mark(struct report *report, struct arena *arena);
/* The probability that chance made the totals differ; NaN: not known. */
double difference_total_probability(const struct report *report);
/* The total that figures are to be read against: of a difference, the larger of old and new. */
uint64_t difference_size(const struct report *report);
/*
 * The figure of a row that is tested: the one that entries are sorted by, or else the main one of
 * the view or of the row's part; COLUMN_COUNT: none.
 */
enum column_id difference_column(const struct report *report, size_t row);

#endif
