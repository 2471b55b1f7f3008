#ifndef SONDE_LIVE_PROCESS_END_H
#define SONDE_LIVE_PROCESS_END_H

#include <stdbool.h>

#include "live/proc.h"

/* Whether it has ended, waited for or not; else its current state. pidfd may be -1. */
bool process_has_ended(const struct live_process *process, int pidfd, struct live_process *now);
/* "killed by SIGSEGV", "exited with 1"; "" if the kernel does not report it. */
void process_end_describe(int pidfd, char *text, size_t size);

#endif
