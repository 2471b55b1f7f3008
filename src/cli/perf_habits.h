#ifndef SONDE_CLI_PERF_HABITS_H
#define SONDE_CLI_PERF_HABITS_H

/* Options that users know from perf but sonde does not have, with sonde's equivalents. */

#include "base/str.h"

/*
 * The answer to one of perf's options that the command lacks, such as "--stdio is perf's option:
 * …"; NULL: not perf's, or there is no answer.  Pass either name, without dashes.
 */
const char *perf_habit(const char *command, char short_name, struct str long_name);

#endif
