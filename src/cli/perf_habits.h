#ifndef SONDE_CLI_PERF_HABITS_H
#define SONDE_CLI_PERF_HABITS_H

/* Options and commands that users know from perf but sonde does not have, with its equivalents. */

#include "base/str.h"

/*
 * The answer to one of perf's options that the command lacks, such as "--stdio is perf's option:
 * …"; NULL: not perf's, or there is no answer.  Pass either name, without dashes.
 */
const char *perf_habit(const char *command, char short_name, struct str long_name);

/*
 * The answer to a command of perf, such as "stat"; NULL: not perf's, or there is no answer.  Ask
 * only if sonde has no command of that name.
 */
const char *perf_command_habit(const char *name);

#endif
