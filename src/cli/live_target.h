#ifndef SONDE_CLI_LIVE_TARGET_H
#define SONDE_CLI_LIVE_TARGET_H

/* The target of `sonde live`: a process id, a program's name, or a file. */

#include "live/attach.h"

/* The zones of the program or file; free them with live_destroy.  The message is complete. */
must_use struct error *live_target_open(const char *operand, struct live **live);

#endif
