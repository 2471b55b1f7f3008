/*
 * Reports of differences.  See difference.h, and analysis/significance.h for the test.
 */
#include "view/difference.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/significance.h"
#include "base/alloc.h"
#include "model/merge.h"
#include "view/views.h"

/*
 * Whether a metric's weights come from the counted samples: those of the CPU clock, or all.  Time
 * off the CPU is not sampled; events have their own samples.
 */
static bool is_sampled(const struct profile *p, metric_id metric, metric_id samples, bool shares)
{
	struct str name = profile_string(p, p->metrics[metric.i].name);
	size_t own = p->metric_count / DIFFERENCE_METRICS - shares;
	metric_id run;

	for (size_t k = 0; profile_find_run(p, name, k, &run); k++)
		own--;
	return metric.i == samples.i || str_equal(name, STR("cpu-time")) || own == 2;
}

/* Share of the samples of both profiles, if all shares were the same. */
static double share_of_samples(const struct profile *p, metric_id samples)
{
	double before = (double)p->total[difference_old(samples).i];
	double after = (double)p->total[difference_new(samples).i];

	return before > 0 && after > 0 ? after / (before + after) : 0.5;
}

/* The weight of one sample, or 0. */
static double weight_of_sample(const struct profile *p, metric_id metric, metric_id samples)
{
	int64_t weight = p->total[metric.i], count = p->total[samples.i];

	return weight > 0 && count > 0 ? (double)weight / (double)count : 0;
}

static double share_of_new(const struct profile *p, metric_id metric, metric_id samples)
{
	double before = weight_of_sample(p, difference_old(metric), difference_old(samples));
	double after = weight_of_sample(p, difference_new(metric), difference_new(samples));

	/* An empty profile is assumed to have the other's interval. */
	return before > 0 && after > 0 ? before / (before + after) : 0.5;
}

void difference_init(struct difference *d, const struct profile *profile,
	const struct profile *old_profile, const struct profile *new_profile, metric_id metric,
	bool is_normalized)
{
	metric_id samples;

	*d = (struct difference){.old_profile = old_profile,
		.new_profile = new_profile,
		.is_normalized = is_normalized,
		.measured = metric};
	/* Shares are the last metric. */
	d->shown = is_normalized ? (metric_id){(uint32_t)profile->metric_count - DIFFERENCE_METRICS}
				 : metric;
	d->others[DIFFERENCE_OLD] = difference_old(d->shown);
	d->others[DIFFERENCE_NEW] = difference_new(d->shown);
	if (!profile_find_metric(profile, STR("samples"), &samples) ||
		!is_sampled(profile, metric, samples, is_normalized))
		return;
	d->others[DIFFERENCE_OLD_SAMPLES] = difference_old(samples);
	d->others[DIFFERENCE_NEW_SAMPLES] = difference_new(samples);
	d->is_counted = true;
	d->hidden_count = DIFFERENCE_SAMPLES_END - DIFFERENCE_SHOWN;
	d->new_share = is_normalized ? share_of_samples(profile, samples)
				     : share_of_new(profile, metric, samples);
}

void difference_add_runs(
	struct difference *d, const struct profile *profile, size_t old_runs, size_t new_runs)
{
	struct str name = profile_string(profile, profile->metrics[d->measured.i].name);

	d->first_run = DIFFERENCE_SHOWN + d->hidden_count;
	for (size_t k = 0; k < old_runs + new_runs; k++) {
		bool is_old = k < old_runs;
		metric_id run;

		if (!profile_find_run(profile, name, is_old ? k : k - old_runs, &run))
			return;
		run = is_old ? difference_old(run) : difference_new(run);
		d->others[d->first_run + k] = run;
		d->run_totals[k] = (double)profile->total[run.i];
		if (d->is_normalized && d->run_totals[k] <= 0)
			return;
	}
	d->hidden_count += old_runs + new_runs;
	d->old_runs = old_runs;
	d->new_runs = new_runs;
}

void difference_ask(const struct difference *d, struct report_query *query)
{
	query->difference = d;
	query->metric = d->shown;
	query->others = d->others;
	query->other_count = DIFFERENCE_SHOWN;
	query->hidden_count = d->hidden_count;
	/* A change in percent of all changes is meaningless. */
	query->percent = PERCENT_RAW;
	if (query->order == CALLTREE_BY_WEIGHT)
		query->order = CALLTREE_BY_CHANGE;
}

static uint64_t magnitude(int64_t weight)
{
	return weight < 0 ? 0 - (uint64_t)weight : (uint64_t)weight;
}

uint64_t difference_size(const struct report *report)
{
	const struct difference *d = report->query.difference;

	if (d == NULL)
		return magnitude(report->tree->total);
	const int64_t *total = report->selection->total;
	uint64_t before = magnitude(total[d->others[DIFFERENCE_OLD].i]);
	uint64_t after = magnitude(total[d->others[DIFFERENCE_NEW].i]);

	return before > after ? before : after;
}

static enum column_id main_column(const struct view *view, size_t part)
{
	enum column_id id = view->parts ? view->parts[part].main_column : view->main_column;

	return id == COLUMN_NAME ? COLUMN_COUNT : id;
}

enum column_id difference_column(const struct report *report, size_t row)
{
	const struct report_query *query = &report->query;
	size_t part = query->view->parts ? query->view->part(report, row) : 0;

	/* Entries are sorted by their own rows. */
	if (part == 0 && query->sort && query->sort->kind == COLUMN_KIND_WEIGHT &&
		query->sort->is_per_metric)
		return (enum column_id)(query->sort - columns);
	return main_column(query->view, part);
}

/* The tested figure: that of a row, or the total. */
struct tested {
	bool is_total;
	size_t row;
	enum column_id column;
};

static int64_t figure_in(const struct report *of, const struct tested *t)
{
	if (t->is_total)
		return of->selection->total[of->query.metric.i];
	struct cell cell = columns[t->column].get(of, t->row);

	return cell.is_null ? 0 : cell.weight + cell.indirect;
}

static uint64_t count_in(const struct report *of, const struct tested *t)
{
	int64_t count = figure_in(of, t);

	return count < 0 ? 0 : (uint64_t)count;
}

static double probability_of_counts(const struct report *report, const struct tested *t)
{
	uint64_t before = count_in(report->others[DIFFERENCE_OLD_SAMPLES], t);
	uint64_t after = count_in(report->others[DIFFERENCE_NEW_SAMPLES], t);

	if (before == 0 && after == 0)
		return NAN;
	return significance_of_counts(before, after, report->query.difference->new_share);
}

static double probability_of_runs(const struct report *report, const struct tested *t)
{
	const struct difference *d = report->query.difference;
	double values[2 * DIFFERENCE_RUNS_MAX];
	bool any = false;

	for (size_t k = 0; k < d->old_runs + d->new_runs; k++) {
		values[k] = (double)figure_in(report->others[d->first_run + k], t);
		any |= values[k] < 0 || values[k] > 0;
		if (d->is_normalized)
			values[k] /= d->run_totals[k];
	}
	return any ? significance_of_runs(values, d->old_runs, values + d->old_runs, d->new_runs)
		   : NAN;
}

/*
 * A change counts only if neither sampling error nor the spread between runs explains it.  NaN if
 * there is nothing to test: rows without samples, and stubs.
 */
static double probability(const struct report *report, const struct tested *t)
{
	const struct difference *d = report->query.difference;
	double of_counts = d->is_counted ? probability_of_counts(report, t) : 0;
	double of_runs = d->old_runs ? probability_of_runs(report, t) : 0;

	if (isnan(of_counts) || isnan(of_runs))
		return NAN;
	return of_counts > of_runs ? of_counts : of_runs;
}

double difference_total_probability(const struct report *report)
{
	const struct difference *d = report->query.difference;

	return d->is_counted || d->old_runs ? probability(report, &(struct tested){true, 0, 0})
					    : NAN;
}

void difference_mark(struct report *report, struct arena *arena)
{
	if (report->query.hidden_count == 0 || main_column(report->query.view, 0) == COLUMN_COUNT)
		return;
	double *p = xcalloc(report->row_count, sizeof(*p));
	bool *marks = ARENA_ARRAY(arena, bool, report->row_count);

	for (size_t row = 0; row < report->row_count; row++)
		p[row] = probability(
			report, &(struct tested){false, row, difference_column(report, row)});
	significance_mark(p, report->row_count, SIGNIFICANCE_RATE, marks);
	report->marks = marks;
	free(p);
}
