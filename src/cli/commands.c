/*
 * The table of commands.
 */

#include "cli/commands.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/nearest.h"
#include "cli/message.h"
#include "cli/perf_habits.h"

/* Each is in a separate file, cmd_NAME.c. */
extern const struct command cmd_run, cmd_record, cmd_report, cmd_annotate, cmd_diff, cmd_merge,
	cmd_convert, cmd_symbolize, cmd_serve, cmd_agent, cmd_live, cmd_top, cmd_push, cmd_fleet,
	cmd_formats, cmd_doctor, cmd_help, cmd_completion;

const struct command *const commands[] = {
	&cmd_run,
	&cmd_record,
	&cmd_report,
	&cmd_annotate,
	&cmd_diff,
	&cmd_merge,
	&cmd_convert,
	&cmd_symbolize,
	&cmd_serve,
	&cmd_agent,
	&cmd_live,
	&cmd_top,
	&cmd_push,
	&cmd_fleet,
	&cmd_formats,
	&cmd_doctor,
	&cmd_help,
	&cmd_completion,
	NULL,
};

const struct command *command_find(const char *name)
{
	for (const struct command *const *c = commands; *c; c++) {
		if (strcmp((*c)->name, name) == 0)
			return *c;
	}
	return NULL;
}

/* `sonde ./prog` and `sonde ./prog.prof`: the command is missing. */
static const char *command_for_file(const char *path)
{
	struct stat info;

	if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
		return NULL;
	return access(path, X_OK) == 0 ? "run" : "report";
}

int command_unknown(const char *name)
{
	const char *for_file = command_for_file(name);
	const char *habit = perf_command_habit(name);
	struct nearest n;

	if (habit) {
		message_print("'%s' is perf's command: %s", name, habit);
		return EXIT_USAGE;
	}
	nearest_init(&n, str_from(name));
	for (const struct command *const *c = commands; *c; c++)
		nearest_offer(&n, str_from((*c)->name));
	if (n.best.size)
		message_print("unknown command '%s'; did you mean '%.*s'?", name, STR_ARG(n.best));
	else if (for_file)
		message_print(
			"unknown command '%s'; did you mean 'sonde %s %s'?", name, for_file, name);
	else
		message_print("unknown command '%s'; 'sonde help' lists them", name);
	return EXIT_USAGE;
}
