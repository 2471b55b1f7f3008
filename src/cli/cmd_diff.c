/*
 * sonde diff OLD NEW: what changed between two profiles, in any view.
 *
 * The report is one of the difference, a profile with three metrics for each (model/merge.h), so
 * that filters, levels, collapsing and views are those of every report.
 */

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/report_options.h"
#include "cli/report_print.h"
#include "model/merge.h"
#include "readers/readers.h"
#include "view/difference.h"
#include "view/views.h"

enum { OPTION_NORMALIZE };

static const struct option_row diff_rows[] = {
	{OPTION_NORMALIZE, 0, "normalize", VALUE_NONE, NULL, NULL,
		"compare shares of the total, for runs of unequal length"},
	{0},
};

struct diff_options {
	struct report_options report;
	bool normalize;
};

static struct error *diff_set(void *context, int id, const char *value)
{
	struct diff_options *o = context;

	if (id != OPTION_NORMALIZE)
		return report_options_set(&o->report, id, value);
	o->normalize = true;
	return NULL;
}

/* The profiles of a command line; NULL before they are read. */
struct sides {
	struct profile *old_profile, *new_profile, *difference;
};

static void sides_deinit(struct sides *sides)
{
	profile_destroy(sides->old_profile);
	profile_destroy(sides->new_profile);
	profile_destroy(sides->difference);
}

static struct error *read_side(
	const struct report_options *options, const char *path, struct profile **profile)
{
	struct error *err = profile_read_with(
		path, &(struct read_options){.from = options->from, .exe = options->exe}, profile);

	return err ? err : report_options_roots(options, profile);
}

static struct error *read_sides(
	const struct diff_options *options, char **paths, struct sides *sides)
{
	struct error *err = read_side(&options->report, paths[0], &sides->old_profile);
	struct str share_of = STR("");

	if (err == NULL)
		err = read_side(&options->report, paths[1], &sides->new_profile);
	if (err)
		return err;
	if (options->normalize)
		share_of = report_options_metric_name(&options->report, sides->new_profile);
	return profile_difference_of_shares(
		sides->old_profile, sides->new_profile, share_of, &sides->difference);
}

/* One metric of the two files, and not one that is old or new already. */
static struct error *choose_metric(const struct report_options *options, const struct sides *sides,
	struct report_query *queries, size_t count, metric_id *metric)
{
	struct metric_list metrics = {0};
	struct error *err =
		report_options_metrics(options, sides->difference, queries, count, &metrics);

	if (err == NULL && metrics.ids.count != 1)
		err = error_new(ERROR_USAGE, "--metric: a difference is shown of one metric");
	if (err == NULL)
		metric->i = queries[0].metric.i / DIFFERENCE_METRICS * DIFFERENCE_METRICS;
	vec_deinit(&metrics.ids);
	return err;
}

/* That the shares are of the metric that was chosen, and not of none. */
static struct error *check_shares(const struct profile *difference, metric_id metric)
{
	struct str name = profile_string(difference, difference->metrics[metric.i].name);
	char *wanted = xasprintf("%.*s (share)", STR_ARG(name));
	metric_id share;
	bool is_there = profile_find_metric(difference, str_from(wanted), &share);

	free(wanted);
	return is_there ? NULL
			: error_new(ERROR_USAGE,
				  "--normalize: expected the name of a metric of the files, as "
				  "--metric %.*s",
				  STR_ARG(name));
}

static struct error *check_views(const struct report_query *queries, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (queries[i].view == &view_stats)
			return error_new(ERROR_USAGE,
				"--view stats is of one recording; see `sonde report --view stats` "
				"of each");
	return NULL;
}

static struct error *diff(const struct diff_options *options, char **paths,
	struct report_query *queries, size_t count)
{
	struct sides sides = {0};
	struct difference difference;
	metric_id metric;

	alloc_keep_freed();
	struct error *err = read_sides(options, paths, &sides);

	if (err == NULL)
		err = choose_metric(&options->report, &sides, queries, count, &metric);
	if (err == NULL && options->normalize)
		err = check_shares(sides.difference, metric);
	if (err == NULL) {
		difference_init(&difference, sides.difference, sides.old_profile, sides.new_profile,
			metric, options->normalize);
		for (size_t i = 0; i < count; i++)
			difference_ask(&difference, &queries[i]);
		err = report_print(&options->report, queries, count, sides.difference, NULL);
	}
	sides_deinit(&sides);
	return err;
}

static int diff_run(const struct command *self, int argc, char **argv)
{
	struct diff_options options = {.report = report_options_default()};
	struct report_query queries[REPORT_VIEWS_MAX];
	struct operands operands;
	size_t count = 0;
	int status;

	options.report.is_difference = true;
	if (!options_parse(self, argc, argv, diff_set, &options, &operands, &status))
		return status;
	if (operands.count != 2)
		return options_usage_error(self, "name two files, the old one first");
	if (strcmp(operands.items[0], "-") == 0 && strcmp(operands.items[1], "-") == 0)
		return options_usage_error(self, "standard input, '-', can be read once only");
	struct error *err = report_options_queries(&options.report, queries, &count);

	if (err == NULL)
		err = check_views(queries, count);
	if (err == NULL)
		err = diff(&options, operands.items, queries, count);
	report_options_deinit(&options.report);
	return err ? options_failure(self, err) : EXIT_SUCCESS;
}

static const struct option_group diff_groups[] = {
	{"What is compared", diff_rows},
	{"View options", report_view_rows},
	{"Filters, applied in the order given", filter_rows},
	{"Clock", report_clock_rows},
	{"Input and output", report_file_rows},
	{"Appearance", report_look_rows},
	{0},
};

const struct command cmd_diff = {
	.name = "diff",
	.summary = "show what changed between two recordings",
	.usage = "OLD NEW [OPTIONS]",
	.details =
		"Every figure is NEW less OLD; beside it stand both, and the change in percent of "
		"OLD. Rows\nare sorted by how much changed, whichever way. A * marks changes that "
		"are more than the\nchance of sampling; what else varies between two runs, it "
		"knows "
		"nothing of.\n\n"
		"Views, levels, filters and formats are those of `sonde report`.",
	.groups = diff_groups,
	.operand = OPERAND_FILE,
	.run = diff_run,
};
