/*
 * Bounds of differences.  See fail_over.h.
 */
#include "cli/fail_over.h"

#include <stdlib.h>

#include "analysis/significance.h"
#include "base/alloc.h"
#include "cli/message.h"
#include "view/difference.h"
#include "view/text/units.h"
#include "view/views.h"

/* For further rows, only their number is printed. */
enum { LINES_MAX = 10 };

static int64_t total_of(const struct report *report)
{
	return report->selection->total[report->query.metric.i];
}

static int64_t old_total(const struct report *report)
{
	return total_of(report->others[DIFFERENCE_OLD]);
}

static bool is_over(const struct fail_over *f, const struct report *report, int64_t change)
{
	return (double)change > f->share * (double)old_total(report);
}

static void print_over(
	const struct fail_over *f, const struct report *report, const char *what, int64_t change)
{
	struct strbuf figure = {0}, part = {0};
	struct metric metric = report_metric(report);

	scale_put(&figure,
		scale_for(profile_string(report->profile, metric.unit), (uint64_t)change), change);
	percent_put(&part, change, old_total(report));
	message_print("%s: %.*s +%s, +%s of the total in old: more than --fail-over %g%%", what,
		STR_ARG(profile_string(report->profile, metric.name)), figure.data, part.data,
		100 * f->share);
	strbuf_deinit(&figure);
	strbuf_deinit(&part);
}

static void check_total(struct fail_over *f, const struct report *report)
{
	/* With NaN, nothing was measured, so chance is unknown. */
	if (!is_over(f, report, total_of(report)) ||
		!(difference_total_probability(report) <= SIGNIFICANCE_RATE))
		return;
	f->is_exceeded = true;
	print_over(f, report, "total", total_of(report));
}

static bool is_entry(const struct report *report, size_t row)
{
	const struct view *view = report->query.view;

	return view->parts == NULL || view->part(report, row) == 0;
}

static void check_rows(struct fail_over *f, const struct report *report)
{
	size_t lines = 0;

	for (size_t row = 0; row < report->row_count; row++) {
		if (!report->marks[row] || !is_entry(report, row))
			continue;
		struct cell cell = columns[difference_column(report, row)].get(report, row);
		int64_t change = cell.weight + cell.indirect;

		if (cell.is_null || !is_over(f, report, change))
			continue;
		f->is_exceeded = true;
		if (++lines > LINES_MAX)
			continue;
		struct strbuf name = {0};
		struct cell named = columns[COLUMN_NAME].get(report, row);
		struct str text = cell_text(&named, &name);
		char *copy = xstrndup(text.data, text.size);

		print_over(f, report, copy, change);
		free(copy);
		strbuf_deinit(&name);
	}
	if (lines > LINES_MAX)
		message_print("and %zu more rows", lines - LINES_MAX);
}

struct error *fail_over_check(struct fail_over *f, const struct report *report)
{
	if (report->row_count && report->marks == NULL)
		return error_new(ERROR_UNSUPPORTED,
			"--fail-over: which changes of %.*s are more than chance is not known; "
			"give "
			"several runs of each side: --old FILE... --new FILE...",
			STR_ARG(profile_string(report->profile, report_metric(report).name)));
	if (old_total(report) <= 0)
		return error_new(ERROR_UNSUPPORTED, "--fail-over: old has no %.*s to compare with",
			STR_ARG(profile_string(report->profile,
				report->profile->metrics[report->query.difference->measured.i]
					.name)));
	check_total(f, report);
	check_rows(f, report);
	return NULL;
}
