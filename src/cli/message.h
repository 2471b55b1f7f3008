#ifndef SONDE_CLI_MESSAGE_H
#define SONDE_CLI_MESSAGE_H

/*
 * All messages to the user go to standard error, one line at a time, beginning with "sonde: ".
 * Untrusted bytes in a message (paths, symbol names) are escaped here, so callers pass them raw.
 */

#include "base/error.h"

/*
 * Exit statuses besides EXIT_SUCCESS and EXIT_FAILURE.  A command that starts a program exits with
 * the program's status; its own failures have the three above 124, as in nohup(1) and timeout(1).
 */
enum {
	EXIT_USAGE = 2,
	EXIT_OVER = 3, /* a limit set by the user is exceeded (`sonde diff --fail-over`) */
	EXIT_OWN_FAILURE = 125,
	EXIT_NOT_EXECUTABLE = 126,
	EXIT_NOT_FOUND = 127,
};

/* Prints "sonde: MESSAGE". */
void message_print(const char *format, ...) printf_like(1, 2);
/* Prints "sonde: ", the message of err and its detail; destroys err, which must not be NULL. */
void message_error(struct error *err);

#endif
