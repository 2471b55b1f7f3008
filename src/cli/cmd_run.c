/*
 * sonde run COMMAND: record and report in one step.
 */

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/command.h"
#include "cli/event_help.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/record_options.h"
#include "cli/record_session.h"
#include "cli/report_options.h"
#include "cli/report_print.h"
#include "view/views.h"

/* Together they fit on one or two pages. */
#define FUNCTIONS_LIMIT 20u
#define TREE_LIMIT	40u

struct run_options {
	struct record_request record;
	struct report_options report;
};

static struct error *run_set(void *context, int id, const char *value)
{
	struct run_options *options = context;

	if (id >= REPORT_OPTION_FIRST)
		return report_options_set(&options->report, id, value);
	return record_options_set(&options->record, id, value);
}

/* Without --view: the functions, then the tree, both short. */
static void shorten(struct question *question)
{
	for (size_t i = 0; question->limit < 0 && i < question->query_count; i++)
		question->queries[i].limit =
			question->queries[i].view->is_tree ? TREE_LIMIT : FUNCTIONS_LIMIT;
}

static struct error *report(struct run_options *options)
{
	struct session *session = NULL;
	struct answer *answer = NULL;
	struct error *err;

	alloc_keep_freed();
	err = session_open(options->record.output, NULL, &session);
	if (err == NULL)
		err = session_ask(session, &options->report.question, &answer);
	if (err == NULL)
		err = report_print(&options->report, answer, NULL);
	answer_destroy(answer);
	session_close(session);
	return err;
}

static int record_and_report(struct run_options *options)
{
	struct record_outcome outcome;

	record_session_run(&options->record, &outcome);
	if (outcome.recorded) {
		struct error *err = report(options);

		if (err) {
			message_error(err);
			if (outcome.status == 0)
				outcome.status = EXIT_OWN_FAILURE;
		}
	}
	return record_session_exit(&outcome);
}

/* Runs with valid options and command. */
static int run(const struct command *self, struct run_options *options)
{
	struct question *question = &options->report.question;
	bool is_short = question->view_count == 0;
	struct error *err;

	if (is_short) {
		question->views[question->view_count++] = &view_functions;
		question->views[question->view_count++] = &view_tree;
	}
	err = question_settle(question);
	if (err)
		return options_failure(self, err);
	if (is_short)
		shorten(question);
	return record_and_report(options);
}

static int run_operands(
	const struct command *self, struct run_options *options, const struct operands *operands)
{
	if (options->record.lists_events) {
		event_help_print();
		return EXIT_SUCCESS;
	}
	struct error *err = record_request_target(&options->record, operands);

	if (err)
		return options_failure(self, err);
	if (strcmp(options->record.output, "-") == 0)
		return options_usage_error(self, "the recording must go to a file");
	options->record.hint = false;
	return run(self, options);
}

static int run_run(const struct command *self, int argc, char **argv)
{
	struct run_options options = {record_request_default(), report_options_default()};
	struct operands operands;
	int status;

	if (options_parse(self, argc, argv, run_set, &options, &operands, &status))
		status = run_operands(self, &options, &operands);
	record_request_deinit(&options.record);
	report_options_deinit(&options.report);
	return status;
}

static const struct option_group groups[] = {
	{"What to record", record_sample_rows},
	{"Recording options", record_option_rows},
	{"View options", question_view_rows},
	{"Filters of the report, applied in the order given", FILTER_ROWS_OF_REPORTS},
	{"Appearance", report_look_rows},
	{0},
};

const struct command cmd_run = {
	.name = "run",
	.summary = "record a program, then show where its time went",
	.usage = "[OPTIONS] [-p PID|NAME | -a] [--] [COMMAND [ARG...]]",
	.details =
		"Records COMMAND as `sonde record` does, then shows the functions and the call "
		"tree, as `sonde report` does. The recording remains in sonde.prof.\n\nThe exit "
		"status is COMMAND's own; 125 if sonde failed, 126 if COMMAND cannot be run, 127 "
		"if it was not found.",
	.groups = groups,
	.operand = OPERAND_FILE,
	.stops_at_operand = true,
	.run = run_run,
};
