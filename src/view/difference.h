#ifndef SONDE_VIEW_DIFFERENCE_H
#define SONDE_VIEW_DIFFERENCE_H

/*
 * Reports of the difference of two profiles (model/merge.h).  They are ordinary reports with two
 * further metrics, old and new.  This file has the differences from other reports: which metrics
 * are requested, and which rows changed by more than chance.
 */

#include "view/report.h"

/* Indices into a report's others. */
enum {
	DIFFERENCE_OLD,
	DIFFERENCE_NEW,
	DIFFERENCE_SHOWN,
	/* After the shown ones, if significance can be tested. */
	DIFFERENCE_OLD_SAMPLES = DIFFERENCE_SHOWN,
	DIFFERENCE_NEW_SAMPLES,
	DIFFERENCE_SAMPLES_END
};

/* Maximum number of runs of one side. */
enum { DIFFERENCE_RUNS_MAX = 64 };

struct difference {
	const struct profile *old_profile, *new_profile;
	metric_id others[DIFFERENCE_SAMPLES_END + 2 * DIFFERENCE_RUNS_MAX];
	size_t hidden_count; /* others that are not shown: samples, and the figures of runs */
	bool is_counted;     /* the samples are known */
	/*
	 * The number of runs that each side sums up, if their figures are known and can be tested,
	 * else 0.  The figures of old's runs start at others[first_run]; new's follow.
	 */
	size_t old_runs, new_runs, first_run;
	double run_totals[2 * DIFFERENCE_RUNS_MAX]; /* in the same order */
	metric_id shown; /* the metric of the difference that the figures are in */
	/* Figures are shares of `measured`; else they are the metric's own values. */
	bool is_normalized;
	metric_id measured;
	/*
	 * The share of samples that would be the new profile's if nothing had changed; the two
	 * profiles may have different intervals.
	 */
	double new_share;
};

/*
 * Sets *d to the difference in a profile's metric, one for which there are old and new.  The
 * profile is profile_difference(old, new), or profile_difference_of_shares for figures that are
 * shares of the metric.
 */
void difference_init(struct difference *d, const struct profile *profile,
	const struct profile *old_profile, const struct profile *new_profile, metric_id metric,
	bool is_normalized);
/*
 * Call it before difference_ask if old and new are merged from that many runs each
 * (profile_merge_runs), three or more in total.
 */
void difference_add_runs(
	struct difference *d, const struct profile *profile, size_t old_runs, size_t new_runs);
/* Makes the query ask for that difference; d must live as long as the query. */
void difference_ask(const struct difference *d, struct report_query *query);

/*
 * Finds the rows that changed by more than chance, each by its own figure.  Sets report->marks if
 * samples were counted and there is such a figure.
 */
void difference_mark(struct report *report, struct arena *arena);
/* The probability that the totals differ by chance; NaN: unknown. */
double difference_total_probability(const struct report *report);
/* The total that figures are compared with; for a difference, the larger of old and new. */
uint64_t difference_size(const struct report *report);
/*
 * The figure that is tested in a row: the one that entries are sorted by, else the main one of the
 * view or of the row's part; COLUMN_COUNT: none.
 */
enum column_id difference_column(const struct report *report, size_t row);

#endif
