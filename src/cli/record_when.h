#ifndef SONDE_CLI_RECORD_WHEN_H
#define SONDE_CLI_RECORD_WHEN_H

/* WHEN at record time. */

#include "cli/record_summary.h"

/*
 * Removes the stacks that no pattern matches from the finished recording at path, and adds the
 * result to the summary.  patterns: each NUL-terminated.  If that fails, all stacks stay, which is
 * reported; the recording has the patterns, so reports still apply them.
 */
void record_when(const char *path, struct str patterns, struct record_summary *summary);

#endif
