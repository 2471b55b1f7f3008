#ifndef SONDE_CLI_LIVE_TARGET_H
#define SONDE_CLI_LIVE_TARGET_H

/* The target of `sonde live`: a process id, a program's name, or a file. */

#include "live/attach.h"

/* The program's or file's zones, to be freed with live_destroy; the message is a whole one. */
must_use struct error *live_target_open(const char *operand, struct live **live);

#endif
