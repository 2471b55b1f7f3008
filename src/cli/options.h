#ifndef SONDE_CLI_OPTIONS_H
#define SONDE_CLI_OPTIONS_H

/*
 * Parses the command line with a command's option rows (cli/command.h): `--name VALUE`,
 * `--name=VALUE`, `-n VALUE`, `-nVALUE`, combined flags as `-abn VALUE`, `--` before operands.
 * Options and operands can be in any order, unless the command stops at its first operand.  `-` is
 * an operand.
 *
 *	static struct error *report_set(void *context, int id, const char *value) …
 *
 *	static int report_run(const struct command *self, int argc, char **argv)
 *	{
 *		struct report_options options = {…};
 *		struct operands operands;
 *		int status;
 *
 *		if (!options_parse(self, argc, argv, report_set, &options, &operands, &status))
 *			return status;
 */

#include <stdbool.h>

#include "base/error.h"
#include "cli/command.h"

/* The remaining arguments: points into argv, NULL-terminated. */
struct operands {
	int count;
	char **items;
};

/*
 * Reads argv[1..argc-1]; argv[0] is the command's name.  argv is rearranged: operands move to its
 * front.  True: continue, with *operands.  False: exit with *status, because help was requested
 * (and printed), or the arguments were invalid (and reported in one line).
 *
 * set is called once for each option, in the given order.  value is NULL for flags, one of the
 * row's choices for VALUE_CHOICE, and otherwise the text as typed, which set must check
 * (session/values.h).  The option's name is prepended to an error's message.
 */
bool options_parse(const struct command *self, int argc, char **argv,
	struct error *(*set)(void *context, int id, const char *value), void *context,
	struct operands *operands, int *status);

/*
 * For commands that find further errors in their arguments: prints "sonde NAME: …" and where the
 * help is; returns the status to exit with.
 */
int options_usage_error(const struct command *self, const char *format, ...) printf_like(2, 3);

/*
 * Prints and frees the error; returns the status to exit with: 1, or that of an invalid command
 * line.
 */
int options_failure(const struct command *self, struct error *err);

/*
 * The status for an invalid command line: 2, or 125 if the command starts a program, whose own
 * statuses must remain distinguishable.
 */
int options_usage_status(const struct command *self);

/*
 * The i-th option group of a command, or NULL past the last.  The command's own groups are followed
 * by one for all commands: --help.
 */
const struct option_group *options_group(const struct command *self, size_t i);
#endif
