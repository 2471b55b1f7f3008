/* sonde report [FILE]: reports on a profile, or repeatedly on a running program with zones. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "cli/command.h"
#include "cli/input_options.h"
#include "cli/live_session.h"
#include "cli/options.h"
#include "cli/report_options.h"
#include "cli/report_print.h"
#include "cli/terminal_browser.h"
#include "session/values.h"
#include "view/views.h"

struct report_command {
	struct report_options options;
	const char *live;  /* program; NULL: a file */
	uint64_t every_ns; /* 0: once */
	bool is_text;	   /* --text, or an option that only text, JSON … have */
};

enum { OPTION_LIVE, OPTION_EVERY, OPTION_TEXT };

static const struct option_row live_rows[] = {
	{OPTION_LIVE, 0, "live", VALUE_TEXT, "PROGRAM", {0},
		"report a running program's zones, by pid or name, instead of FILE"},
	{OPTION_EVERY, 0, "every", VALUE_TEXT, "TIME", {0},
		"with --live: time between two looks in the browser (default 1s); as text, "
		"repeat the report until the program ends"},
	{0},
};

static const struct option_row text_rows[] = {
	{OPTION_TEXT, 0, "text", VALUE_NONE, NULL, {0},
		"print text, also on a terminal, instead of opening the browser"},
	{0},
};

static const struct option_group groups[] = {
	{"View options", question_view_rows},
	{"Filters, applied in the order given", filter_rows},
	{"Clock", question_clock_rows},
	STORE_QUERY_GROUPS,
	{"Running programs", live_rows},
	{"Input and output", question_drawing_rows},
	{"Input and output", report_output_rows},
	{"Input and output", input_rows},
	{"Pages (--format html)", report_page_rows},
	{"Terminal", text_rows},
	{"Appearance", report_look_rows},
	{0},
};

static struct error *set_every(struct report_command *command, const char *value)
{
	struct error *err = value_time(value, &command->every_ns);

	if (err == NULL && command->every_ns < SECOND_NS / 1000)
		return error_new(ERROR_USAGE, "at least 1ms, not '%s'", value);
	return err;
}

/* Options of which files are read, and of what is counted; the browser begins with these. */
static bool is_for_browser(int id)
{
	return id >= FILTER_OPTION_FIRST || option_is_of(input_rows, id) || store_options_has(id) ||
	       option_is_of(question_clock_rows, id) || option_is_of(live_rows, id);
}

static struct error *report_set(void *context, int id, const char *value)
{
	struct report_command *command = context;

	command->is_text |= !is_for_browser(id);
	switch (id) {
	case OPTION_TEXT:
		return NULL;
	case OPTION_LIVE:
		command->live = value;
		return NULL;
	case OPTION_EVERY:
		return set_every(command, value);
	default:
		return report_options_set(&command->options, id, value);
	}
}

/* Whether the shown metric has no weight, but the real clock has. */
static bool only_waited(const struct profile *profile, const struct report_query *query)
{
	metric_id real;

	return profile->total[query->metric.i] == 0 &&
	       profile_find_metric(profile, STR("real-time"), &real) && profile->total[real.i] != 0;
}

/* A word quoted for the shell; if it cannot be, its description. */
static const char *shell_word(const char *word, const char *stands_for)
{
	return word[0] == '-' || strpbrk(word, " \t\n\"'\\$`*?[]{}()<>|&;#~!") ? stands_for : word;
}

/* A first report shows functions; its last line suggests what to look at next. */
static char *make_hint(
	const struct question *question, const char *arguments, const struct answer *answer)
{
	const struct profile *profile = answer->reports[0]->profile;
	bool is_waiting = only_waited(profile, &answer->reports[0]->query);

	if (answer->format->draw != text_draw || question->brief)
		return NULL;
	return xasprintf("next: sonde report %s%s%s%s", arguments, arguments[0] ? " " : "",
		question->clock == QUESTION_CLOCK_REAL ? "--clock real " : "",
		is_waiting		? "--clock real   (what it waited for)"
		: profile->samples.zone ? "--view zones   (or tree, stats)"
		: !profile->has_stacks	? "--view graph   (or modules, stats)"
					: "--view tree   (or modules, stats)");
}

/* hints: end with the next command to type, which begins with these arguments. */
static struct error *report(
	struct report_options *options, struct session *session, bool hints, const char *arguments)
{
	struct answer *answer = NULL;
	struct error *err = session_ask(session, &options->question, &answer);

	if (err == NULL) {
		char *hint = hints ? make_hint(&options->question, arguments, answer) : NULL;

		err = report_print(options, answer, hint);
		free(hint);
	}
	answer_destroy(answer);
	return err;
}

/* ---- the browser ---- */

/* Whether the report is for someone at a terminal who asked for nothing else. */
static bool wants_browser(const struct report_command *command)
{
	return !command->is_text && terminal_browser_fits();
}

/* ---- files ---- */

static struct error *report_file(struct report_command *command, const char *path, bool hints)
{
	struct report_options *options = &command->options;
	struct session *session = NULL;
	bool is_shown = false;
	int signal_number = 0;
	struct error *err;

	char *subject = report_options_subject(options, path);

	alloc_keep_freed();
	options->question.subject = subject;
	options->is_browsed = wants_browser(command);
	err = report_options_open(options, path, &session);
	if (err == NULL && wants_browser(command)) {
		err = terminal_browser_run(&options->question, session, NULL, &signal_number);
		is_shown = err == NULL || err->kind != ERROR_UNSUPPORTED;
		if (!is_shown) {
			error_destroy(err);
			err = NULL;
		}
	}
	if (err == NULL && !is_shown)
		err = report(options, session, hints,
			options->store.address ? subject + 1
			: path		       ? shell_word(path, "FILE")
					       : "");
	session_close(session);
	free(subject);
	terminal_browser_raise(signal_number);
	return err;
}

/* ---- running programs ---- */

static bool is_on_terminal(const struct report_options *options)
{
	return options->output == NULL && isatty(STDOUT_FILENO);
}

/* Consecutive reports fill the terminal without scrolling it. */
static void fit_terminal(struct report_options *options)
{
	const int lines_around = 10; /* above and below the rows */
	struct winsize size;

	options->no_pager = true;
	if (options->question.limit < 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 &&
		size.ws_row > lines_around)
		options->question.limit = size.ws_row - lines_around;
}

static void put_before(const struct report_options *options, bool is_first)
{
	if (is_on_terminal(options))
		fputs("\033[H\033[2J", stdout);
	else if (options->output == NULL && !is_first)
		putchar('\n');
	fflush(stdout);
}

/* Prints a report, and with --every one after the other. */
static struct error *print_live(
	const struct report_command *command, struct live_session *live, bool hints)
{
	struct report_options options = command->options;
	char *arguments = xasprintf("--live %s", shell_word(command->live, "PROGRAM"));
	char *subject = xasprintf(" %s", arguments);
	struct session *session;
	struct error *err = NULL;

	options.question.subject = subject;
	for (bool is_first = true; err == NULL; is_first = false) {
		if (command->every_ns)
			put_before(&options, is_first);
		err = live_session_open(live, &session);
		if (err)
			break;
		err = report(&options, session, hints && !command->every_ns, arguments);
		session_close(session);
		if (err || command->every_ns == 0 || !live_session_wait(live, command->every_ns))
			break;
	}
	free(subject);
	free(arguments);
	return err;
}

static struct error *look(void *data, struct session **session, uint64_t *wait_ms)
{
	struct live_session *live = data;

	if (live_session_wait(live, 0))
		return live_session_open(live, session);
	*wait_ms = BROWSE_ENDED;
	return NULL;
}

static struct error *browse_live(const struct report_command *command, struct live_session *live)
{
	uint64_t every_ns = command->every_ns ? command->every_ns : SECOND_NS;
	const struct browse_live newer = {
		.look = look, .data = live, .every_ms = every_ns / (SECOND_NS / 1000)};
	struct session *session;
	int signal_number = 0;
	struct error *err = live_session_open(live, &session);

	if (err)
		return err;
	err = terminal_browser_run(&command->options.question, session, &newer, &signal_number);
	session_close(session);
	terminal_browser_raise(signal_number);
	return err;
}

static struct error *report_live(const struct report_command *command, bool hints)
{
	struct live_session *live = NULL;
	struct error *err = live_session_create(command->live, &live);

	if (err == NULL && wants_browser(command)) {
		err = browse_live(command, live);
		if (err == NULL || err->kind != ERROR_UNSUPPORTED) {
			live_session_destroy(live);
			return err;
		}
		error_destroy(err);
		err = NULL;
	}
	if (err == NULL)
		err = print_live(command, live, hints);
	live_session_destroy(live);
	return err;
}

static int report_run(const struct command *self, int argc, char **argv)
{
	struct report_command command = {.options = report_options_default()};
	struct question *question = &command.options.question;
	struct operands operands;
	struct error *err;
	bool is_first;
	int status;

	if (!options_parse(self, argc, argv, report_set, &command, &operands, &status))
		return status;
	if (operands.count > 1)
		return options_usage_error(
			self, "one file at a time; '%s' is one too many", operands.items[1]);
	if (command.live && operands.count)
		return options_usage_error(self,
			"--live is in place of a file; '%s' is one too many", operands.items[0]);
	if (command.every_ns && command.live == NULL)
		return options_usage_error(self, "--every goes with --live: files don't change");
	if (command.every_ns && !wants_browser(&command) && is_on_terminal(&command.options))
		fit_terminal(&command.options);
	is_first = question->view_count == 0 && question->level < 0 &&
		   question->filters.requests.count == 0;
	err = question_settle(question);
	if (err == NULL && command.options.has_embed && !formats[question->format].is_page)
		err = error_new(ERROR_USAGE, "--embed is for --format html");
	if (err == NULL && command.options.anonymize && !formats[question->format].is_page)
		err = error_new(ERROR_USAGE,
			"--anonymize is for --format html; sonde convert has it for other formats");
	if (err == NULL && command.options.anonymize && command.options.has_embed)
		err = error_new(ERROR_USAGE, "--embed has names, which --anonymize leaves out");
	if (err == NULL && command.options.debuginfod && !command.options.embed_source)
		err = error_new(ERROR_USAGE, "--debuginfod is for --embed source");
	is_first = is_first && err == NULL && question->queries[0].view == &view_functions;
	if (err == NULL && command.live)
		err = report_live(&command, is_first);
	else if (err == NULL)
		err = report_file(&command, operands.count ? operands.items[0] : NULL, is_first);
	report_options_deinit(&command.options);
	return err ? options_failure(self, err) : EXIT_SUCCESS;
}

const struct command cmd_report = {
	.name = "report",
	.summary = "show where a recorded program spent its time",
	.usage = "[FILE] [OPTIONS]",
	.details =
		"On a terminal, without options for a view, the output or its appearance, report "
		"opens the browser: all views of FILE with keys and mouse, ? for help. --text, "
		"or a pipe, prints instead.\n\n"
		"FILE is sonde.prof by default, and - is standard input; `sonde formats` lists "
		"the formats that can be read.\n\nViews: functions lists each function with what "
		"was spent in the function itself (exclusive), and in it and everything it "
		"called (inclusive); modules, lines and threads do the same for program files "
		"and libraries, source lines and threads; deep lists both, sorted by each, with "
		"the statistics. callers shows each function with its callers and callees; graph "
		"does the same in gprof's layout, with functions that call each other as one; "
		"tree shows the call tree; zones the program's own zones; heat when time was "
		"spent; stats how good the recording is.\n\nIn the tree, a recursive call does "
		"not open a new branch: a stub `f...` points at the row f above it, and f's "
		"figures include it. Figures read direct (indirect); the part in parentheses "
		"arrived through a stub. --collapse none shows every call separately; direct "
		"collapses only functions that call themselves; conservative collapses only if "
		"no name is lost. A [module] follows the rows that enter it.",
	.groups = groups,
	.operand = OPERAND_FILE,
	.run = report_run,
};
