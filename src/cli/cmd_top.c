/*
 * sonde top: what the machine, or some of its processes, did in the last seconds; or, from a store,
 * what many machines did in the last minutes.
 */

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "cli/command.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/recent_recording.h"
#include "cli/record_options.h"
#include "cli/report_options.h"
#include "cli/report_print.h"
#include "cli/store_watch.h"
#include "cli/terminal_browser.h"
#include "session/values.h"
#include "view/views.h"

#define KEEP_DEFAULT  (10 * SECOND_NS)
#define EVERY_DEFAULT SECOND_NS
/*
 * Of a store.  An agent's interval of a minute is there up to two minutes after it ended, and is
 * the host's latest for a minute: so five minutes have some of each host that sends.
 */
#define STORE_KEEP_DEFAULT  (300 * SECOND_NS)
#define STORE_EVERY_DEFAULT (10 * SECOND_NS)
#define MS_NS		    (SECOND_NS / 1000)

enum {
	/* How often to see whether a dump has come, and how long the first may take. */
	LOOK_MS = 20,
	FIRST_DUMP_MS = 60000,
	/* How old the data is, in seconds, goes on without an answer. */
	STATE_MS = 1000,
	/* Longer than any server may be silent. */
	FIRST_ANSWER_MS = 600000,
};

struct top_command {
	struct record_request record;
	struct report_options report;
	uint64_t keep_ns, every_ns; /* 0: not given */
	bool is_once; /* one report as text: asked for, or by an option that only text has */
	const struct option_row *records; /* an option about recording that was given, or NULL */
};

/* Smaller than those of reports, and other than those of recordings. */
enum { OPTION_ONCE = 500, OPTION_EVERY, OPTION_KEEP };

static const struct option_row top_rows[] = {
	{OPTION_KEEP, 0, "keep", VALUE_TEXT, "TIME", {0},
		"how much of the past is shown (default 10s; with --store 5min)"},
	{OPTION_EVERY, 0, "every", VALUE_TEXT, "TIME", {0},
		"time between two looks (default 1s; with --store 10s)"},
	{OPTION_ONCE, '1', "once", VALUE_NONE, NULL, {0},
		"record for that time, print one report, and exit; the default without a "
		"terminal, or with view options"},
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
		return set_time(value, SECOND_NS, &command->keep_ns);
	default:
		break;
	}
	if (store_options_has(id))
		return report_options_set(&command->report, id, value);
	if (id < REPORT_OPTION_FIRST) {
		for (const struct option_row *row = record_sample_rows; row->long_name; row++)
			command->records = row->id == id ? row : command->records;
		return record_options_set(&command->record, id, value);
	}
	/* The browser begins with the roots, and with filters. */
	command->is_once |= id < FILTER_OPTION_FIRST && id != QUESTION_OPTION_ROOTS;
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
static struct error *browse(struct top_command *command, const struct browse_live *newer,
	struct session *session, enum profile_roots roots, bool *is_shown, int *signal)
{
	struct question *question = &command->report.question;
	enum profile_roots given = question->roots;
	struct error *err;

	question->roots = given == ROOTS_NONE ? roots : given;
	err = terminal_browser_run(question, session, newer, signal);
	question->roots = given;
	*is_shown = err == NULL || err->kind != ERROR_UNSUPPORTED;
	if (*is_shown)
		return err;
	error_destroy(err);
	return NULL;
}

static bool is_once(const struct top_command *command)
{
	return command->is_once || !terminal_browser_fits();
}

static struct error *show(struct top_command *command)
{
	bool once = is_once(command), is_shown = false;
	uint64_t first_ns = once ? command->record.keep_ns : command->every_ns;
	struct recent_recording *recording = NULL;
	struct session *session = NULL;
	int signal = 0;
	struct error *err = recent_recording_start(&command->record, first_ns / MS_NS, &recording);
	const struct browse_live newer = {
		.look = look, .data = recording, .every_ms = command->every_ns / MS_NS};

	if (err == NULL)
		err = take_first(recording, &session);
	if (err == NULL && !once)
		err = browse(command, &newer, session,
			command->record.everybody ? ROOTS_PROCESS : ROOTS_NONE, &is_shown, &signal);
	if (err == NULL && !is_shown)
		err = print(command, session);
	session_close(session);
	recent_recording_stop(recording);
	terminal_browser_raise(signal);
	return err;
}

/* ---- stores ---- */

struct store_look {
	struct store_watch *watch;
	uint64_t every_ns, next_ns; /* next_ns: monotonic, of the next question */
};

/* The state says what failed, and the next question may be answered. */
static struct error *look_at_store(void *data, struct session **session, uint64_t *wait_ms)
{
	struct store_look *l = data;
	uint64_t now_ns = clock_monotonic_ns();

	*wait_ms = STATE_MS;
	if (!store_watch_is_asking(l->watch) && now_ns < l->next_ns) {
		if ((l->next_ns - now_ns) / MS_NS < STATE_MS)
			*wait_ms = (l->next_ns - now_ns) / MS_NS + 1;
		return NULL;
	}
	error_destroy(store_watch_take(l->watch, 0, session));
	if (store_watch_is_asking(l->watch))
		*wait_ms = LOOK_MS;
	else
		l->next_ns = clock_monotonic_ns() + l->every_ns;
	return NULL;
}

static const char *store_state(void *data, bool *is_trouble)
{
	const struct store_look *l = data;

	return store_watch_state(l->watch, is_trouble);
}

/* The first session; the question is settled, and says what is to be read. */
static struct error *open_store(
	struct top_command *command, struct store_watch **watch, struct session **session)
{
	struct error *err = report_options_read_from(&command->report);

	if (err == NULL)
		err = store_watch_create(
			&command->report.store, command->keep_ns / SECOND_NS, watch);
	if (err == NULL)
		err = store_watch_take(*watch, FIRST_ANSWER_MS, session);
	if (err == NULL && *session == NULL)
		err = error_new(ERROR_SYSTEM, "the store does not answer");
	return err;
}

static struct error *show_store(struct top_command *command)
{
	struct report_options *report = &command->report;
	struct store_look looking = {.every_ns = command->every_ns};
	struct session *session = NULL;
	bool is_trouble, is_shown = false, once = is_once(command);
	/* A short wait, as the first look only sets when to ask. */
	const struct browse_live newer = {
		.look = look_at_store, .state = store_state, .data = &looking, .every_ms = LOOK_MS};
	enum profile_roots roots = ROOTS_NONE;
	int signal = 0;
	struct error *err;

	report->is_browsed = !once;
	/* Services stand where the machine's processes do. */
	if (!once && report->question.roots == ROOTS_NONE &&
		report->store.query.services.count != 1) {
		roots = ROOTS_LABEL;
		report->question.root_label = "service";
		report->store.query.by_service = true;
	}
	err = open_store(command, &looking.watch, &session);
	looking.next_ns = clock_monotonic_ns() + looking.every_ns;
	if (err == NULL && !once)
		err = browse(command, &newer, session, roots, &is_shown, &signal);
	if (err == NULL && !is_shown) {
		err = print(command, session);
		message_print("%s", store_watch_state(looking.watch, &is_trouble));
	}
	session_close(session);
	store_watch_destroy(looking.watch);
	terminal_browser_raise(signal);
	return err;
}

/* ---- the command ---- */

/* What is not given depends on where it comes from. */
static struct error *choose_source(struct top_command *command, struct operands *operands)
{
	struct record_request *record = &command->record;
	bool has_store = command->report.store.address != NULL;

	if (has_store && command->records)
		return error_new(ERROR_USAGE,
			"--%s is about recording this machine, not about what a store has",
			command->records->long_name);
	if (command->keep_ns == 0)
		command->keep_ns = has_store ? STORE_KEEP_DEFAULT : KEEP_DEFAULT;
	if (command->every_ns == 0)
		command->every_ns = has_store ? STORE_EVERY_DEFAULT : EVERY_DEFAULT;
	record->keep_ns = command->keep_ns;
	record->everybody = record->pid_count == 0;
	return has_store ? NULL : record_request_target(record, operands);
}

static int top(const struct command *self, struct top_command *command, struct operands *operands)
{
	struct error *err;

	if (operands->count > 0)
		return options_usage_error(self,
			"'%s' is one too many: -p watches a process; 'sonde run' runs a command",
			operands->items[0]);
	err = choose_source(command, operands);
	if (err == NULL)
		err = question_settle(&command->report.question);
	if (err == NULL && command->report.store.address)
		err = show_store(command);
	else if (err == NULL)
		err = report_options_read_from(&command->report);
	if (err == NULL && command->report.store.address == NULL)
		err = show(command);
	return err ? options_failure(self, err) : EXIT_SUCCESS;
}

static int top_run(const struct command *self, int argc, char **argv)
{
	struct top_command command = {
		.record = record_request_default(), .report = report_options_default()};
	struct operands operands;
	int status;

	alloc_keep_freed();
	if (options_parse(self, argc, argv, top_set, &command, &operands, &status))
		status = top(self, &command, &operands);
	record_request_deinit(&command.record);
	report_options_deinit(&command.report);
	return status;
}

static const struct option_group groups[] = {
	{"What is shown", top_rows},
	{"What to record", record_sample_rows},
	STORE_LIVE_GROUPS,
	{"View options, of one report", question_view_rows},
	{"Filters, applied in the order given", FILTER_ROWS_OF_REPORTS},
	{"Output, of one report", question_drawing_rows},
	{"Output, of one report", report_output_rows},
	{"Appearance, of one report", report_look_rows},
	{0},
};

const struct command cmd_top = {
	.name = "top",
	.summary = "watch what the machine, some processes, or many machines do now",
	.usage = "[-p PID|NAME | --store URL|DIR] [OPTIONS]",
	.details =
		"Records all processes, or those of -p and --cgroup, keeps the last seconds, and "
		"shows them in the terminal browser of `sonde report`, again each second: flame "
		"graph, call tree, functions, callers. Filters, the selected function and the "
		"cursor stay; p pauses, ? lists the keys. The processes run on unchanged.\n\n"
		"--store shows what many machines do, as agents send it to a store: the last "
		"minutes, updated as more arrives, with the services as the roots of the flame "
		"graph. The line of filters shows how old the newest data is, how many hosts sent "
		"it, and what is missing.\n\n"
		"Recording all processes needs privileges; `sonde doctor` prints how to get them. "
		"Your own processes, with -p, need none.\n\nNo recording remains: to keep one, "
		"use `sonde record -a --keep TIME`.",
	.groups = groups,
	.operand = OPERAND_NONE,
	.run = top_run,
};
