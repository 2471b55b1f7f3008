#ifndef SONDE_CLI_RECORD_WHEN_H
#define SONDE_CLI_RECORD_WHEN_H

/* WHEN at record time. */

#include "cli/record_summary.h"

/*
 * Takes the stacks that the patterns, each ended by NUL, do not match out of the finished recording
 * at path, and tells the summary of it.  Where that fails all stay, which it says; reports apply
 * the patterns all the same, as the recording has them.
 */
void record_when(const char *path, struct str patterns, struct record_summary *summary);

#endif
