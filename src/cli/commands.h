#ifndef SONDE_CLI_COMMANDS_H
#define SONDE_CLI_COMMANDS_H

/* Looking up commands by what the user typed. */

#include "cli/command.h"

/* The command of that name, or NULL. */
const struct command *command_find(const char *name);
/* Says that there is no such command, and what may have been meant; returns the exit status. */
int command_unknown(const char *name);

#endif
