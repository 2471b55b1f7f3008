#ifndef SONDE_CLI_COMMANDS_H
#define SONDE_CLI_COMMANDS_H

/* Looking up commands by what the user typed. */

#include "cli/command.h"

/* The command with that name, or NULL. */
const struct command *command_find(const char *name);
/* Reports an unknown command, and suggests a similar one; returns the exit status. */
int command_unknown(const char *name);

#endif
