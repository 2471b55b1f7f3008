/* sonde live: shows the zones of running programs, without stopping them. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/sink.h"
#include "cli/command.h"
#include "cli/live_host.h"
#include "cli/live_json.h"
#include "cli/live_names.h"
#include "cli/live_once.h"
#include "cli/live_target.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/output.h"
#include "session/values.h"
#include "live/find.h"

struct live_options {
	struct live_once once;
	struct tui_options tui;
	const char *save; /* file; NULL: none */
	bool is_once, has_format, has_mode;
	bool asks;	/* options say what to show */
	bool asks_once; /* an option of the report, which the view does not have */
	int color;
};

enum option {
	OPTION_ONCE,
	OPTION_FORMAT,
	OPTION_MODE,
	OPTION_ZONE,
	OPTION_THREAD,
	OPTION_RECURSION,
	OPTION_AVERAGE,
	OPTION_FRAMES,
	OPTION_FOR,
	OPTION_SAVE,
	OPTION_INTERVAL,
	OPTION_FREEZE,
	OPTION_COLOR,
};

static const char *const format_names[] = {"text", "json", NULL};
static const char *const color_names[] = {"auto", "always", "never", NULL};

static const struct option_row what_rows[] = {
	{OPTION_ONCE, '1', "once", VALUE_NONE, NULL, {0}, "print one report, and exit"},
	{OPTION_FORMAT, 0, "format", VALUE_CHOICE, "FORMAT", CHOICES(format_names),
		"format of --once and of the list"},
	{OPTION_SAVE, 0, "save", VALUE_FILE, "FILE", {0},
		"save the zones to FILE, for 'sonde live' and 'sonde report'"},
	{0},
};

static const struct option_row shown_rows[] = {
	{OPTION_MODE, 0, "mode", VALUE_CHOICE, "MODE", CHOICES(live_mode_names),
		"what to show; default self"},
	{OPTION_ZONE, 0, "zone", VALUE_TEXT, "NAME", {0},
		"the call graph around this zone; default mode: graph"},
	{OPTION_THREAD, 0, "thread", VALUE_TEXT, "NAME", {0},
		"only the thread with this name or number"},
	{OPTION_RECURSION, 0, "recursion", VALUE_CHOICE, "HOW", CHOICES(live_recursion_names),
		"flatten: one row per recursive zone; spread: one per depth"},
	{OPTION_AVERAGE, 0, "average", VALUE_CHOICE, "HOW", CHOICES(live_average_names),
		"none: the last frame; short: 0.8 s (default); long: 2.5 s"},
	{0},
};

static const struct option_row report_rows[] = {
	{OPTION_FRAMES, 0, "frames", VALUE_TEXT, "WHAT", {0},
		"the unit of a frame: auto, run, looks, or a stream's name"},
	{OPTION_FOR, 0, "for", VALUE_TEXT, "TIME", {0}, "watch for TIME, and report only that"},
	{0},
};

static const struct option_row view_rows[] = {
	{OPTION_INTERVAL, 0, "interval", VALUE_TEXT, "TIME", {0},
		"time between two refreshes (default 100ms)"},
	{OPTION_FREEZE, 0, "freeze-over", VALUE_TEXT, "TIME", {0},
		"freeze when a frame takes longer"},
	{OPTION_COLOR, 0, "color", VALUE_CHOICE, "WHEN", CHOICES(color_names),
		"when to use colour; default auto"},
	{0},
};

static const struct option_group groups[] = {
	{"What to do", what_rows},
	{"What is shown", shown_rows},
	{"The report of --once", report_rows},
	{"The terminal view", view_rows},
	{0},
};

static struct error *set_interval(struct tui_options *tui, const char *value)
{
	uint64_t time_ns;
	struct error *err = value_time(value, &time_ns);

	if (err)
		return err;
	if (time_ns < SECOND_NS / 1000 || time_ns > 3600 * SECOND_NS)
		return error_new(ERROR_USAGE, "between 1ms and 1h, not '%s'", value);
	tui->interval_ms = (unsigned)(time_ns / 1000000);
	return NULL;
}

static struct error *set_freeze(struct tui_options *tui, const char *value)
{
	uint64_t time_ns;
	struct error *err = value_time(value, &time_ns);

	if (err == NULL)
		tui->freeze_over_ms = (double)time_ns / 1e6;
	return err;
}

static struct error *set_report(struct live_once *once, int id, const char *value)
{
	switch ((enum option)id) {
	case OPTION_MODE:
		once->query.mode = (enum zone_mode)CHOICE_OF(value, live_mode_names);
		break;
	case OPTION_ZONE:
		once->zone = value;
		break;
	case OPTION_THREAD:
		once->thread = value;
		break;
	case OPTION_RECURSION:
		once->query.recursion = (enum zone_recursion)CHOICE_OF(value, live_recursion_names);
		break;
	case OPTION_AVERAGE:
		once->query.average = (unsigned)CHOICE_OF(value, live_average_names);
		break;
	case OPTION_FRAMES:
		once->frames = value;
		break;
	case OPTION_FORMAT:
		once->is_json = CHOICE_OF(value, format_names) == 1;
		break;
	case OPTION_FOR:
		return value_time(value, &once->observe_ns);
	case OPTION_ONCE:
	case OPTION_SAVE:
	case OPTION_INTERVAL:
	case OPTION_FREEZE:
	case OPTION_COLOR:
		break;
	}
	return NULL;
}

static struct error *live_set(void *context, int id, const char *value)
{
	struct live_options *options = context;

	if (id == OPTION_ONCE)
		options->is_once = true;
	else if (id == OPTION_SAVE)
		options->save = value;
	else if (id == OPTION_INTERVAL)
		return set_interval(&options->tui, value);
	else if (id == OPTION_FREEZE)
		return set_freeze(&options->tui, value);
	else if (id == OPTION_COLOR)
		options->color = CHOICE_OF(value, color_names);
	options->has_format |= id == OPTION_FORMAT;
	options->asks |= id >= OPTION_MODE && id <= OPTION_FOR;
	options->asks_once |= id == OPTION_FRAMES || id == OPTION_FOR;
	options->has_mode |= id == OPTION_MODE;
	return set_report(&options->once, id, value);
}

/* ---- the list ---- */

static void put_program(struct strbuf *out, const struct live_program *p)
{
	const struct live_summary *s = &p->summary;

	strbuf_printf(out, "%8d  ", p->process.pid);
	if (p->problem) {
		escape_text(out, str_from(p->problem->message));
		strbuf_add_char(out, '\n');
		return;
	}
	if (s->frame_ms > 0)
		strbuf_printf(out, "%7u %7u %11llu %9.3f", s->threads, s->zones,
			(unsigned long long)s->frames, s->frame_ms);
	else
		strbuf_printf(out, "%7u %7u %11s %9s", s->threads, s->zones, "-", "-");
	strbuf_printf(out, " %9.1f  ", (double)s->uptime_ns / 1e9);
	escape_text(out, str_from(s->program));
	if (p->state == LIVE_STOPPED)
		strbuf_add(out, STR(" (stopped)"));
	strbuf_add_char(out, '\n');
}

static void put_list(struct strbuf *out, const struct live_list *list)
{
	strbuf_printf(out, "%8s  %7s %7s %11s %9s %9s  %s\n", "pid", "threads", "zones", "frames",
		"ms/frame", "seconds", "program");
	for (size_t i = 0; i < list->programs.count; i++)
		put_program(out, &list->programs.data[i]);
	if (list->hidden && geteuid() != 0)
		message_print("this user may not inspect %zu more process%s: 'sudo sonde live' "
			      "shows those that have zones",
			list->hidden, list->hidden == 1 ? "" : "es");
}

/* Prints why there is nothing to show. */
static void say_none(const struct live_list *list)
{
	message_print("no running program%s has zones; man sonde-live explains how to add them",
		list->hidden ? " that this user may inspect" : "");
}

static struct error *list_programs(const struct live_options *options, struct strbuf *out)
{
	struct live_list list;
	struct error *err = live_list_find(&list);

	if (err)
		return err;
	if (options->once.is_json)
		live_json_list(out, &list);
	else if (list.programs.count)
		put_list(out, &list);
	else
		say_none(&list);
	live_list_deinit(&list);
	return NULL;
}

/* ---- one program ---- */

static struct error *save(
	const struct live_options *options, const struct live *live, struct zone_namer namer)
{
	struct output output;
	struct error *err;

	if (strcmp(options->save, "-") == 0)
		return error_new(ERROR_USAGE,
			"--save writes a sparse file, not standard output: expected a file name");
	err = output_open(&output, options->save);
	if (err)
		return err;
	err = live_save(live, namer, output.fd, options->save);
	if (err) {
		output_abandon(&output);
		return err;
	}
	return output_commit(&output);
}

static struct error *print(const struct strbuf *text)
{
	struct sink sink;

	sink_init(&sink, STDOUT_FILENO, "standard output");
	strbuf_add(&sink.text, strbuf_str(text));
	return sink_finish(&sink);
}

static struct error *do_once(struct live_options *options, const char *operand, struct live *live)
{
	struct live_names *names =
		live && live->path == NULL ? live_names_create(live->process.pid) : NULL;
	struct strbuf out = {0};
	struct error *err = NULL;

	if (operand == NULL)
		err = list_programs(options, &out);
	else if (options->save)
		err = save(options, live, live_names_namer(names));
	if (err == NULL && operand && (options->is_once || options->has_format))
		err = live_once_report(live, live_names_namer(names), &options->once, &out);
	if (err == NULL && out.size)
		err = print(&out);
	live_names_destroy(names);
	strbuf_deinit(&out);
	return err;
}

static struct error *view(struct live_options *options, struct live *live)
{
	int signal_number = 0;

	options->tui.choose = live == NULL;
	options->tui.no_color = options->color == 2;
	options->tui.query = &options->once.query;
	options->tui.zone = options->once.zone;
	options->tui.thread = options->once.thread;
	struct error *err = live_host_run(live, &options->tui, &signal_number);
	if (err == NULL && signal_number) {
		signal(signal_number, SIG_DFL);
		raise(signal_number);
	}
	return err;
}

static int live_run(const struct command *self, int argc, char **argv)
{
	struct live_options options = {
		.once = {.query = ZONE_QUERY_INIT, .observe_ns = UINT64_MAX}};
	struct operands operands;
	struct live *live = NULL;
	struct error *err = NULL;
	int status;

	if (!options_parse(self, argc, argv, live_set, &options, &operands, &status))
		return status;
	if (operands.count > 1)
		return options_usage_error(self, "one program at a time");
	const char *operand = operands.count ? operands.items[0] : NULL;
	if (options.save && operand == NULL)
		return options_usage_error(self, "--save needs a program: its pid, or its name");
	bool is_report = options.is_once || options.has_format;
	bool shows = !is_report && !options.save &&
		     (operand || (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)));
	if (options.asks_once && !is_report)
		return options_usage_error(self, "--frames and --for need --once");
	if (options.asks && !is_report && !shows)
		return options_usage_error(
			self, "display options (--mode, --zone …) need --once or a terminal");
	/* If a file size limit is exceeded, writing must fail, not end us: the file is removed. */
	signal(SIGXFSZ, SIG_IGN);
	if (options.once.zone && !options.has_mode)
		options.once.query.mode = ZONE_MODE_GRAPH;
	if (operand)
		err = live_target_open(operand, &live);
	if (err == NULL && shows) {
		err = view(&options, live);
	} else if (err == NULL) {
		err = do_once(&options, operand, live);
		live_destroy(live);
	}
	return err ? options_failure(self, err) : EXIT_SUCCESS;
}

const struct command cmd_live = {
	.name = "live",
	.summary = "watch the zones of running programs",
	.usage = "[PID | NAME | FILE] [OPTIONS]",
	.details = "Programs that mark zones with prof.h always measure them. This shows exact "
		   "times and counts for each zone, caller and frame, without stopping or slowing "
		   "the program. Without an operand, it lists the programs with zones. FILE is a "
		   "file written by --save, a program's own (SONDE_ZONES=file=PATH), or a core "
		   "dump.\n\nOn a terminal, it is an interactive view; ? lists the keys. For "
		   "scripts, use --once.",
	.groups = groups,
	.run = live_run,
};
