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
static char *make_hint(
	const struct question *question, const char *path, const struct answer *answer)
{
	const struct profile *profile = answer->reports[0]->profile;
	bool is_waiting = only_waited(profile, &answer->reports[0]->query);

	if (answer->format->draw != text_draw)
		return NULL;
	if (path && (path[0] == '-' || strpbrk(path, " \t\n\"'\\$`*?[]{}()<>|&;#~!")))
		path = "FILE";
	return xasprintf("next: sonde report %s%s%s%s", path ? path : "", path ? " " : "",
		question->clock == QUESTION_CLOCK_REAL ? "--clock real " : "",
		is_waiting		? "--clock real   (what it waited for)"
		: profile->samples.zone ? "--view zones   (or tree, stats)"
		: !profile->has_stacks	? "--view graph   (or modules, stats)"
					: "--view tree   (or modules, stats)");
}

/* hints: end with what to type next. */
static struct error *report_file(struct report_options *options, const char *path, bool hints)
{
	struct session *session = NULL;
	struct answer *answer = NULL;
	struct error *err;

	alloc_keep_freed();
	err = report_options_open(options, path, &session);
	if (err == NULL)
		err = session_ask(session, &options->question, &answer);
	if (err == NULL) {
		char *hint = hints ? make_hint(&options->question, path, answer) : NULL;

		err = report_print(options, answer, hint);
		free(hint);
	}
	answer_destroy(answer);
	session_close(session);
	return err;
}

static int report_run(const struct command *self, int argc, char **argv)
{
	struct report_options options = report_options_default();
	struct question *question = &options.question;
	struct operands operands;
	struct error *err;
	bool is_first;
	int status;

	if (!options_parse(self, argc, argv, report_options_set, &options, &operands, &status))
		return status;
	if (operands.count > 1)
		return options_usage_error(
			self, "one file at a time; '%s' is one too many", operands.items[1]);
	is_first = question->view_count == 0 && question->level < 0 &&
		   question->filters.requests.count == 0;
	err = question_settle(question);
	if (err == NULL)
		err = report_file(&options, operands.count ? operands.items[0] : NULL,
			is_first && question->queries[0].view == &view_functions);
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
