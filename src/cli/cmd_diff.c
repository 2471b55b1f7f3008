/*
 * sonde diff OLD NEW: what changed between two profiles, in any view.
 *
 * The report is one of the difference, a profile with three metrics for each (model/merge.h), so
 * that filters, levels, collapsing and views are those of every report.
 */

#include <stdlib.h>
#include <string.h>

#include "analysis/certificate.h"
#include "base/alloc.h"
#include "cli/command.h"
#include "cli/fail_over.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/report_options.h"
#include "cli/report_print.h"
#include "formats/readers.h"
#include "model/merge.h"
#include "session/values.h"
#include "view/difference.h"
#include "view/views.h"

enum { OPTION_OLD, OPTION_NEW, OPTION_NORMALIZE, OPTION_FAIL_OVER, OPTION_UNFIT_OK };

static const struct option_row diff_rows[] = {
	{OPTION_OLD, 0, "old", VALUE_FILES, "FILE...", {0}, "several runs of the old side"},
	{OPTION_NEW, 0, "new", VALUE_FILES, "FILE...", {0}, "several runs of the new side"},
	{OPTION_NORMALIZE, 0, "normalize", VALUE_NONE, NULL, {0},
		"compare shares of the total, for runs of unequal length"},
	{OPTION_FAIL_OVER, 0, "fail-over", VALUE_TEXT, "PERCENT", {0},
		"exit with 3 if a row grew by more of the old total"},
	{OPTION_UNFIT_OK, 0, "unfit-ok", VALUE_NONE, NULL, {0},
		"--fail-over: also with recordings that lost or truncated too much"},
	{0},
};

/* The files of one side. */
struct side_paths {
	const char *items[DIFFERENCE_RUNS_MAX];
	size_t count;
};

struct diff_options {
	struct report_options report;
	struct side_paths old_paths, new_paths;
	bool normalize, unfit_ok;
	struct fail_over fail_over;
};

/* Messages about files that are unfit as evidence. */
struct evidence {
	struct arena *arena;
	VEC(const char *) remarks;
};

static struct error *add_path(struct side_paths *paths, const char *path)
{
	if (paths->count == DIFFERENCE_RUNS_MAX)
		return error_new(
			ERROR_USAGE, "a side has at most %d runs", (int)DIFFERENCE_RUNS_MAX);
	paths->items[paths->count++] = path;
	return NULL;
}

static struct error *diff_set(void *context, int id, const char *value)
{
	struct diff_options *o = context;

	switch (id) {
	case OPTION_OLD:
		return add_path(&o->old_paths, value);
	case OPTION_NEW:
		return add_path(&o->new_paths, value);
	case OPTION_NORMALIZE:
		o->normalize = true;
		return NULL;
	case OPTION_FAIL_OVER:
		return value_percent(value, &o->fail_over.share);
	case OPTION_UNFIT_OK:
		o->unfit_ok = true;
		return NULL;
	default:
		return report_options_set(&o->report, id, value);
	}
}

/* Requires one file each as operands, or --old and --new. */
static struct error *check_paths(struct diff_options *o, const struct operands *operands)
{
	size_t dashes = 0;

	if (operands->count && o->old_paths.count + o->new_paths.count)
		return error_new(ERROR_USAGE,
			"unexpected '%s': --old and --new name all files, each those behind it",
			operands->items[0]);
	if (operands->count == 2) {
		(void)!add_path(&o->old_paths, operands->items[0]);
		(void)!add_path(&o->new_paths, operands->items[1]);
	}
	if (operands->count > 2)
		return error_new(
			ERROR_USAGE, "name two files, or several with --old FILE... --new FILE...");
	if (o->old_paths.count == 0 || o->new_paths.count == 0)
		return error_new(ERROR_USAGE, "name two files, the old one first");
	if (!o->normalize && o->old_paths.count != o->new_paths.count)
		return error_new(ERROR_USAGE,
			"--old has %zu, --new has %zu: name as many of each, as figures are "
			"sums, or compare shares with --normalize",
			o->old_paths.count, o->new_paths.count);
	for (size_t i = 0; i < o->old_paths.count; i++)
		dashes += strcmp(o->old_paths.items[i], "-") == 0;
	for (size_t i = 0; i < o->new_paths.count; i++)
		dashes += strcmp(o->new_paths.items[i], "-") == 0;
	return dashes > 1 ? error_new(ERROR_USAGE, "standard input, '-', can be read once only")
			  : NULL;
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
	struct error *err = profile_read_with(path, &options->input, profile);
	struct profile *rooted;

	if (err || options->question.roots == ROOTS_NONE)
		return err;
	err = question_roots(&options->question, *profile, &rooted);
	if (err)
		return err;
	profile_destroy(*profile);
	*profile = rooted;
	return NULL;
}

/* A recording that is unfit as evidence cannot be checked against a bound. */
static struct error *judge(const struct diff_options *options, const char *path,
	const struct profile *profile, struct evidence *evidence)
{
	struct certificate c = certificate_of(profile);

	if (certificate_is_fit(&c))
		return NULL;
	const char *text = certificate_text(&c, evidence->arena);

	if (options->fail_over.share > 0 && !options->unfit_ok)
		return error_new(ERROR_UNSUPPORTED,
			"--fail-over: %s is not fit as evidence: %s; --unfit-ok takes it as it is",
			path, text);
	vec_push(&evidence->remarks,
		arena_printf(evidence->arena, "%s is not fit as evidence: %s", path, text));
	return NULL;
}

/* Reads the profiles of a side, count of them. */
static struct error *read_runs(const struct diff_options *options, const struct side_paths *paths,
	struct profile **runs, struct evidence *evidence)
{
	struct error *err = NULL;

	for (size_t k = 0; k < paths->count && err == NULL; k++) {
		err = read_side(&options->report, paths->items[k], &runs[k]);
		if (err == NULL)
			err = judge(options, paths->items[k], runs[k], evidence);
	}
	return err;
}

/* Sums a side's runs, and if there are several, adds the figures of each; frees them. */
static struct error *join_runs(
	struct profile **runs, size_t count, struct str metric, size_t most, struct profile **side)
{
	struct error *err = NULL;

	if (most > 1) {
		err = profile_merge_runs(
			(const struct profile *const *)runs, count, metric, most, side);
	} else {
		*side = runs[0];
		runs[0] = NULL;
	}
	return err;
}

static char *metric_name(const struct report_options *options, const struct profile *profile)
{
	struct str name = question_metric_name(&options->question, profile);

	return xstrndup(name.data, name.size);
}

static void destroy_runs(struct profile **runs)
{
	for (size_t k = 0; k < DIFFERENCE_RUNS_MAX; k++)
		profile_destroy(runs[k]);
}

static struct error *read_sides(
	const struct diff_options *options, struct sides *sides, struct evidence *evidence)
{
	const struct side_paths *old_paths = &options->old_paths, *new_paths = &options->new_paths;
	struct profile *old_runs[DIFFERENCE_RUNS_MAX] = {NULL};
	struct profile *new_runs[DIFFERENCE_RUNS_MAX] = {NULL};
	size_t most = old_paths->count > new_paths->count ? old_paths->count : new_paths->count;
	struct error *err = read_runs(options, old_paths, old_runs, evidence);

	if (err == NULL)
		err = read_runs(options, new_paths, new_runs, evidence);
	if (err == NULL) {
		char *metric = metric_name(&options->report, new_runs[0]);

		err = join_runs(
			old_runs, old_paths->count, str_from(metric), most, &sides->old_profile);
		if (err == NULL)
			err = join_runs(new_runs, new_paths->count, str_from(metric), most,
				&sides->new_profile);
		if (err == NULL)
			err = profile_difference_of_shares(sides->old_profile, sides->new_profile,
				options->normalize ? str_from(metric) : STR(""),
				&sides->difference);
		free(metric);
	}
	destroy_runs(old_runs);
	destroy_runs(new_runs);
	return err;
}

/* Chooses a metric of both files, not one that is already old or new. */
static struct error *choose_metric(
	struct question *question, const struct sides *sides, metric_id *metric)
{
	struct metric_list metrics = {0};
	struct error *err = question_metrics(question, sides->difference, &metrics);

	if (err == NULL && metrics.ids.count != 1)
		err = error_new(ERROR_USAGE, "--metric: a difference is shown of one metric");
	if (err == NULL)
		metric->i = question->queries[0].metric.i / DIFFERENCE_METRICS * DIFFERENCE_METRICS;
	vec_deinit(&metrics.ids);
	return err;
}

/* Checks that the shares are of the chosen metric, and that it has weight. */
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

static struct error *check_views(const struct question *question)
{
	for (size_t i = 0; i < question->query_count; i++) {
		const struct view *view = question->queries[i].view;

		if (view == &view_stats || view == &view_heat)
			return error_new(ERROR_USAGE,
				"--view %s is of one recording; see `sonde report --view %s` "
				"of each",
				view->name, view->name);
	}
	return NULL;
}

static struct error *diff(struct diff_options *options)
{
	struct question *question = &options->report.question;
	struct answer *answer = NULL;
	struct evidence evidence = {.arena = arena_create()};
	struct sides sides = {0};
	struct difference difference;
	metric_id metric;

	alloc_keep_freed();
	struct error *err = read_sides(options, &sides, &evidence);

	if (err == NULL)
		err = choose_metric(question, &sides, &metric);
	if (err == NULL && options->normalize)
		err = check_shares(sides.difference, metric);
	if (err == NULL) {
		difference_init(&difference, sides.difference, sides.old_profile, sides.new_profile,
			metric, options->normalize);
		if (options->old_paths.count + options->new_paths.count > 2)
			difference_add_runs(&difference, sides.difference, options->old_paths.count,
				options->new_paths.count);
		for (size_t i = 0; i < question->query_count; i++) {
			difference_ask(&difference, &question->queries[i]);
			question->queries[i].remarks = evidence.remarks.data;
			question->queries[i].remark_count = evidence.remarks.count;
		}
		err = answer_create(question, sides.difference, &answer);
	}
	if (err == NULL)
		err = report_print(&options->report, answer, NULL);
	answer_destroy(answer);
	sides_deinit(&sides);
	vec_deinit(&evidence.remarks);
	arena_destroy(evidence.arena);
	return err;
}

static int diff_run(const struct command *self, int argc, char **argv)
{
	struct diff_options options = {.report = report_options_default()};
	struct operands operands;
	int status;

	options.report.question.is_difference = true;
	if (!options_parse(self, argc, argv, diff_set, &options, &operands, &status))
		return status;
	struct error *err = check_paths(&options, &operands);

	if (err == NULL)
		err = question_settle(&options.report.question);
	if (err == NULL)
		err = check_views(&options.report.question);
	if (options.fail_over.share > 0)
		options.report.fail_over = &options.fail_over;
	if (err == NULL)
		err = diff(&options);
	report_options_deinit(&options.report);
	if (err)
		return options_failure(self, err);
	return options.fail_over.is_exceeded ? EXIT_OVER : EXIT_SUCCESS;
}

static const struct option_group diff_groups[] = {
	{"What is compared", diff_rows},
	{"View options", question_view_rows},
	{"Filters, applied in the order given", filter_rows},
	{"Clock", question_clock_rows},
	{"Input and output", report_file_rows},
	{"Appearance", report_look_rows},
	{0},
};

const struct command cmd_diff = {
	.name = "diff",
	.summary = "show what changed between two recordings",
	.usage = "OLD NEW | --old FILE... --new FILE... [OPTIONS]",
	.details = "Every figure is NEW minus OLD; next to it are both, and the change in percent "
		   "of OLD. Rows are sorted by the size of the change. A * marks changes that "
		   "sampling noise does not explain. Runs also vary for other reasons, which only "
		   "several runs per side show, with --old and --new: a * then also exceeds the "
		   "spread between runs.\n\nViews, levels, filters and formats are those of `sonde "
		   "report`.",
	.groups = diff_groups,
	.operand = OPERAND_FILE,
	.run = diff_run,
};
