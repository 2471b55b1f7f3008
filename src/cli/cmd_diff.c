/* sonde diff OLD NEW: what changed between two profiles, in any view (session/comparison.h). */

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/command.h"
#include "cli/fail_over.h"
#include "cli/input_options.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/report_options.h"
#include "cli/report_print.h"
#include "session/comparison.h"
#include "session/values.h"

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

struct diff_options {
	struct report_options report;
	struct comparison_sides sides;
	bool unfit_ok;
	struct fail_over fail_over;
};

static struct error *add_path(struct comparison_side *side, const char *path)
{
	if (side->count == DIFFERENCE_RUNS_MAX)
		return error_new(
			ERROR_USAGE, "a side has at most %d runs", (int)DIFFERENCE_RUNS_MAX);
	side->paths[side->count++] = path;
	return NULL;
}

static struct error *diff_set(void *context, int id, const char *value)
{
	struct diff_options *o = context;

	switch (id) {
	case OPTION_OLD:
		return add_path(&o->sides.old_side, value);
	case OPTION_NEW:
		return add_path(&o->sides.new_side, value);
	case OPTION_NORMALIZE:
		o->sides.normalize = true;
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
	struct comparison_side *old = &o->sides.old_side, *new = &o->sides.new_side;
	size_t dashes = 0;

	if (operands->count && old->count + new->count)
		return error_new(ERROR_USAGE,
			"unexpected '%s': --old and --new name all files, each those behind it",
			operands->items[0]);
	if (operands->count == 2) {
		(void)!add_path(old, operands->items[0]);
		(void)!add_path(new, operands->items[1]);
	}
	if (operands->count > 2)
		return error_new(
			ERROR_USAGE, "name two files, or several with --old FILE... --new FILE...");
	if (old->count == 0 || new->count == 0)
		return error_new(ERROR_USAGE, "name two files, the old one first");
	if (!o->sides.normalize && old->count != new->count)
		return error_new(ERROR_USAGE,
			"--old has %zu, --new has %zu: name as many of each, as figures are "
			"sums, or compare shares with --normalize",
			old->count, new->count);
	for (size_t i = 0; i < old->count; i++)
		dashes += strcmp(old->paths[i], "-") == 0;
	for (size_t i = 0; i < new->count; i++)
		dashes += strcmp(new->paths[i], "-") == 0;
	return dashes > 1 ? error_new(ERROR_USAGE, "standard input, '-', can be read once only")
			  : NULL;
}

static void add_side(struct strbuf *out, const char *option, const struct comparison_side *side)
{
	strbuf_printf(out, "%s", option);
	for (size_t i = 0; i < side->count; i++) {
		char *path = report_options_subject(NULL, side->paths[i]);

		strbuf_add(out, str_from(path));
		free(path);
	}
}

/* How the next questions of a brief answer name both sides. */
static void name_sides(const struct comparison_sides *sides, struct strbuf *out)
{
	bool is_plain = sides->old_side.count == 1 && sides->new_side.count == 1;

	add_side(out, is_plain ? "" : " --old", &sides->old_side);
	add_side(out, is_plain ? "" : " --new", &sides->new_side);
	strbuf_add(out, sides->normalize ? STR(" --normalize") : STR(""));
}

static struct error *diff(struct diff_options *options)
{
	struct strbuf subject = {0};
	struct comparison *comparison = NULL;
	struct answer *answer = NULL;

	alloc_keep_freed();
	store_options_put(&options->report.store, &subject);
	name_sides(&options->sides, &subject);
	options->report.question.subject = strbuf_str(&subject).data;
	struct error *err = report_options_read_from(&options->report);

	options->sides.input = options->report.input;
	options->sides.refuses_unfit = options->fail_over.share > 0 && !options->unfit_ok;
	if (err == NULL)
		err = comparison_open(&options->sides, &options->report.question, &comparison);
	if (err == NULL)
		err = comparison_ask(comparison, &options->report.question, &answer);
	if (err == NULL)
		err = report_print(&options->report, answer, NULL);
	answer_destroy(answer);
	comparison_close(comparison);
	strbuf_deinit(&subject);
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
	STORE_QUERY_GROUPS,
	{"Input and output", question_drawing_rows},
	{"Input and output", report_output_rows},
	{"Input and output", input_rows},
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
