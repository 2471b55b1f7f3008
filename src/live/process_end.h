#ifndef SONDE_LIVE_PROCESS_END_H
#define SONDE_LIVE_PROCESS_END_H

#include <stdbool.h>

#include "live/proc.h"

/* Whether it has ended, be it waited for or not; else how it is now.  pidfd may be -1. */
bool process_has_ended(const struct live_process *process, int pidfd, struct live_process *now);
/* "killed by SIGSEGV", "exited with 1"; "" where the kernel does not tell. */
void process_end_describe(int pidfd, char *text, size_t size);

#endif
