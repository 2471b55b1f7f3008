/*
 * sonde report [FILE]: what a profile says.
 */

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/report_options.h"
#include "cli/report_print.h"
#include "view/views.h"

/* The metric that is shown has nothing, and the real clock has. */
static bool only_waited(const struct profile *profile, const struct report_query *query)
{
	metric_id real;

	return profile->total[query->metric.i] == 0 &&
	       profile_find_metric(profile, STR("real-time"), &real) && profile->total[real.i] != 0;
}

/* A first report shows the functions; its last line says what else there is. */
static char *make_hint(const struct report_options *options, const char *path,
	const struct profile *profile, const struct report_query *query)
{
	bool is_waiting = only_waited(profile, query);

	if (formats[options->format].draw != text_draw)
		return NULL;
	if (path && (path[0] == '-' || strpbrk(path, " \t\n\"'\\$`*?[]{}()<>|&;#~!")))
		path = "FILE";
	return xasprintf("next: sonde report %s%s%s%s", path ? path : "", path ? " " : "",
		options->clock == REPORT_CLOCK_REAL ? "--clock real " : "",
		is_waiting		? "--clock real   (what it waited for)"
		: profile->samples.zone ? "--view zones   (or tree, stats)"
		: !profile->has_stacks	? "--view graph   (or modules, stats)"
					: "--view tree   (or modules, stats)");
}

/* hints: end with what to type next. */
static struct error *report_file(const struct report_options *options, const char *path,
	struct report_query *queries, size_t count, bool hints)
{
	struct profile *profile;
	char *hint = NULL;
	struct metric_list metrics = {0};
	struct error *err;

	alloc_keep_freed();
	err = report_options_read(options, path, &profile);
	if (err)
		return err;
	err = report_options_roots(options, &profile);
	if (err == NULL)
		err = report_options_metrics(options, profile, queries, count, &metrics);
	if (err == NULL && hints)
		hint = make_hint(options, path, profile, &queries[0]);
	if (err == NULL)
		err = report_print(options, queries, count, profile, hint);
	free(hint);
	vec_deinit(&metrics.ids);
	profile_destroy(profile);
	return err;
}

static int report_run(const struct command *self, int argc, char **argv)
{
	struct report_options options = report_options_default();
	struct report_query queries[REPORT_VIEWS_MAX];
	struct operands operands;
	struct error *err;
	size_t count = 0;
	const char *path;
	bool is_first;
	int status;

	if (!options_parse(self, argc, argv, report_options_set, &options, &operands, &status))
		return status;
	if (operands.count > 1)
		return options_usage_error(
			self, "one file at a time; '%s' is one too many", operands.items[1]);
	path = operands.count ? operands.items[0] : NULL;
	is_first =
		options.view_count == 0 && options.level < 0 && options.filters.requests.count == 0;
	err = report_options_queries(&options, queries, &count);
	if (err == NULL)
		err = report_file(&options, path, queries, count,
			is_first && queries[0].view == &view_functions);
	report_options_deinit(&options);
	return err ? options_failure(self, err) : EXIT_SUCCESS;
}

const struct command cmd_report = {
	.name = "report",
	.summary = "show where the time of a recording went",
	.usage = "[FILE] [OPTIONS]",
	.details =
		"FILE is sonde.prof where none is named, and - is standard input; `sonde formats` "
		"lists\nwhat can be read.\n\n"
		"Views: functions lists each function with what was spent in it itself (exclusive) "
		"and in\nit and all that it called (inclusive); modules, lines and threads do the "
		"same for program\nfiles and libraries, source lines and threads; deep does it "
		"twice, by each, with the\nstatistics. callers shows each function between its "
		"callers and what it called; graph\ndoes, too, as gprof lays it out, with "
		"functions that call each other as one; tree\nshows who called whom; zones "
		"what the program says of its zones; heat when it was\nspent; stats how the "
		"recording went.\n\n"
		"In the tree, a recursive call does not open a new branch: a stub `f...` stands "
		"for "
		"the\nrow f above it, and f's figures include it. Figures read direct (indirect), "
		"the part in\nparentheses having come by way of such a stub. --collapse none shows "
		"every call as it\nwas; direct collapses only functions that call themselves; "
		"conservative collapses\nwherever no name is lost. A [module] stands behind the "
		"rows "
		"that enter it.",
	.groups = report_option_groups,
	.operand = OPERAND_FILE,
	.run = report_run,
};
