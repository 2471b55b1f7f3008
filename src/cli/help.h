#ifndef SONDE_CLI_HELP_H
#define SONDE_CLI_HELP_H

/* Help texts, made from the commands' tables, on standard output. */

#include "cli/command.h"
#include "cli/help_topic.h"

/* What `sonde` alone says: the commands, a line each. */
void help_overview(void);
/* What `sonde help NAME` says of a topic. */
void help_topic_print(const struct help_topic *topic);
/* What `sonde help NAME` says: usage, details, every option. */
void help_command(const struct command *command);

#endif
