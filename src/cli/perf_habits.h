#ifndef SONDE_CLI_PERF_HABITS_H
#define SONDE_CLI_PERF_HABITS_H

/* Options that users know from perf but sonde does not have, with sonde's equivalents. */

#include "base/str.h"

/*
 * The answer to an option of perf's that the command lacks, as "--stdio is perf's option: …"; NULL:
 * it is not perf's, or nothing is known to say.  Given is one name or the other, without dashes.
 */
const char *perf_habit(const char *command, char short_name, struct str long_name);

#endif
