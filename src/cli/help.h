#ifndef SONDE_CLI_HELP_H
#define SONDE_CLI_HELP_H

/* Help texts, made from the commands' tables, on standard output. */

#include "cli/command.h"
#include "cli/help_topic.h"

/* The output of `sonde` without arguments: the commands, one per line. */
void help_overview(void);
/* The output of `sonde help NAME` for a topic. */
void help_topic_print(const struct help_topic *topic);
/* The output of `sonde help NAME`: usage, details, every option. */
void help_command(const struct command *command);

#endif
