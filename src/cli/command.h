#ifndef SONDE_CLI_COMMAND_H
#define SONDE_CLI_COMMAND_H

/*
 * A command owns its name, its help, its options and its code: one file cmd_NAME.c that ends in one
 * `const struct command`, and one row in commands.c.
 *
 * To add one: copy a small one (cmd_formats.c), give it its option rows, add it to commands.c and
 * to src/cli/meson.build; help, usage errors, nearest matches and shell completions follow from the
 * rows.  tests/e2e/cli_man.py compares them with the man page.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "session/option.h"

/* What a command's operands are, for shell completion. */
enum operand_value {
	OPERAND_FILE, /* with stops_at_operand: a program, then its own arguments */
	OPERAND_NONE,
	OPERAND_COMMAND, /* of sonde */
	OPERAND_SHELL,
};

struct command {
	const char *name;
	const char *summary; /* one line for `sonde help` */
	const char *usage;   /* "[FILE] [OPTIONS]" */
	/*
	 * For `sonde help NAME`: paragraphs, which are refilled; a line that begins with a blank
	 * stays unchanged.  NULL: none.
	 */
	const char *details;
	const struct option_group *groups; /* ends with a group without rows */
	enum operand_value operand;
	bool stops_at_operand; /* options end at the first operand: record, run */
	/* argv[0] is the command's name. Returns the exit status. */
	int (*run)(const struct command *self, int argc, char **argv);
};

extern const struct command *const commands[]; /* NULL-terminated, in the order of help */

#endif
