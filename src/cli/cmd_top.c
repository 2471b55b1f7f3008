/* sonde top: what the machine, or some of its processes, did in the last seconds. */

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/recent_recording.h"
#include "cli/record_options.h"
#include "cli/report_options.h"
#include "cli/report_print.h"
#include "cli/terminal_browser.h"
#include "session/values.h"
#include "view/views.h"

#define KEEP_DEFAULT  (10 * SECOND_NS)
#define EVERY_DEFAULT SECOND_NS
#define MS_NS	      (SECOND_NS / 1000)

enum {
	/* How often to see whether a dump has come, and how long the first may take. */
	LOOK_MS = 20,
	FIRST_DUMP_MS = 60000,
};

struct top_command {
	struct record_request record;
	struct report_options report;
	uint64_t every_ns;
	bool is_once; /* one report as text: asked for, or by an option that only text has */
};

/* Smaller than those of reports, and other than those of recordings. */
enum { OPTION_ONCE = 500, OPTION_EVERY, OPTION_KEEP };

static const struct option_row top_rows[] = {
	{OPTION_KEEP, 0, "keep", VALUE_TEXT, "TIME", {0},
		"how much of the past is shown (default 10s)"},
	{OPTION_EVERY, 0, "every", VALUE_TEXT, "TIME", {0}, "time between two looks (default 1s)"},
	{OPTION_ONCE, '1', "once", VALUE_NONE, NULL, {0},
		"record for that time, print one report, and exit; so without a terminal, and "
		"with view options"},
	{0},
};

static struct error *set_time(const char *value, uint64_t least_ns, uint64_t *time_ns)
{
	uint64_t given_ns;
	struct error *err = value_time(value, &given_ns);

	if (err)
		return err;
	if (given_ns < least_ns || given_ns > 3600 * SECOND_NS)
		return error_new(ERROR_USAGE, "between %s and 1h, not '%s'",
			least_ns < SECOND_NS ? "100ms" : "1s", value);
	*time_ns = given_ns;
	return NULL;
}

static struct error *top_set(void *context, int id, const char *value)
{
	struct top_command *command = context;

	switch (id) {
	case OPTION_ONCE:
		command->is_once = true;
		return NULL;
	case OPTION_EVERY:
		return set_time(value, SECOND_NS / 10, &command->every_ns);
	case OPTION_KEEP:
		return set_time(value, SECOND_NS, &command->record.keep_ns);
	default:
		break;
	}
	if (id < REPORT_OPTION_FIRST)
		return record_options_set(&command->record, id, value);
	command->is_once |= id < FILTER_OPTION_FIRST;
	return report_options_set(&command->report, id, value);
}

/* The first session; the recorder may need some time for its first file. */
static struct error *take_first(struct recent_recording *recording, struct session **session)
{
	struct error *err = recent_recording_take(recording, FIRST_DUMP_MS, session);

	if (err == NULL && *session == NULL)
		err = error_new(ERROR_SYSTEM, "the recorder does not answer");
	return err;
}

static struct error *print(struct top_command *command, struct session *session)
{
	struct answer *answer = NULL;
	struct error *err = session_ask(session, &command->report.question, &answer);

	if (err == NULL)
		err = report_print(&command->report, answer, NULL);
	answer_destroy(answer);
	return err;
}

static struct error *look(void *data, struct session **session, uint64_t *wait_ms)
{
	struct recent_recording *recording = data;
	struct error *err = recent_recording_take(recording, 0, session);

	if (err == NULL && *session == NULL)
		*wait_ms = recent_recording_has_ended(recording) ? BROWSE_ENDED : LOOK_MS;
	return err;
}

/* *is_shown false: the terminal cannot show it. */
static struct error *browse(struct top_command *command, struct recent_recording *recording,
	struct session *session, bool *is_shown, int *signal)
{
	const struct browse_live newer = {
		.look = look, .data = recording, .every_ms = command->every_ns / MS_NS};
	struct question *question = &command->report.question;
	struct error *err;

	question->roots = command->record.everybody ? ROOTS_PROCESS : ROOTS_NONE;
	err = terminal_browser_run(question, session, &newer, signal);
	question->roots = ROOTS_NONE;
	*is_shown = err == NULL || err->kind != ERROR_UNSUPPORTED;
	if (*is_shown)
		return err;
	error_destroy(err);
	return NULL;
}

static struct error *show(struct top_command *command)
{
	bool is_once = command->is_once || !terminal_browser_fits(), is_shown = false;
	uint64_t first_ns = is_once ? command->record.keep_ns : command->every_ns;
	struct recent_recording *recording = NULL;
	struct session *session = NULL;
	int signal = 0;
	struct error *err = recent_recording_start(&command->record, first_ns / MS_NS, &recording);

	if (err == NULL)
		err = take_first(recording, &session);
	if (err == NULL && !is_once)
		err = browse(command, recording, session, &is_shown, &signal);
	if (err == NULL && !is_shown)
		err = print(command, session);
	session_close(session);
	recent_recording_stop(recording);
	terminal_browser_raise(signal);
	return err;
}

static int top(const struct command *self, struct top_command *command, struct operands *operands)
{
	struct record_request *record = &command->record;
	struct error *err;

	if (operands->count > 0)
		return options_usage_error(self,
			"'%s' is one too many: -p watches a process; 'sonde run' runs a command",
			operands->items[0]);
	record->everybody = record->pid_count == 0;
	err = record_request_target(record, operands);
	if (err == NULL)
		err = question_settle(&command->report.question);
	if (err == NULL)
		err = show(command);
	return err ? options_failure(self, err) : EXIT_SUCCESS;
}

static int top_run(const struct command *self, int argc, char **argv)
{
	struct top_command command = {.record = record_request_default(),
		.report = report_options_default(),
		.every_ns = EVERY_DEFAULT};
	struct operands operands;
	int status;

	alloc_keep_freed();
	command.record.keep_ns = KEEP_DEFAULT;
	if (options_parse(self, argc, argv, top_set, &command, &operands, &status))
		status = top(self, &command, &operands);
	record_request_deinit(&command.record);
	report_options_deinit(&command.report);
	return status;
}

static const struct option_group groups[] = {
	{"What is shown", top_rows},
	{"What to record", record_sample_rows},
	{"View options, of one report", question_view_rows},
	{"Filters, applied in the order given", FILTER_ROWS_OF_REPORTS},
	{"Output, of one report", report_output_rows},
	{"Appearance, of one report", report_look_rows},
	{0},
};

const struct command cmd_top = {
	.name = "top",
	.summary = "watch what the machine, or some processes, do now",
	.usage = "[-p PID|NAME] [OPTIONS]",
	.details =
		"Records all processes, or those of -p and --cgroup, keeps the last seconds, and "
		"shows them in the terminal browser of `sonde report`, again each second: flame "
		"graph, call tree, functions, callers. Filters, the selected function and the "
		"cursor stay; p pauses, ? lists the keys. The processes run on unchanged.\n\n"
		"Recording all processes needs privileges, which `sonde doctor` shows how to "
		"give; -p takes your own without any.\n\nNothing is left: to keep a recording, "
		"use `sonde record -a --keep TIME`.",
	.groups = groups,
	.operand = OPERAND_NONE,
	.run = top_run,
};
