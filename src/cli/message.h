#ifndef SONDE_CLI_MESSAGE_H
#define SONDE_CLI_MESSAGE_H

/*
 * All messages to the user go to standard error, one line at a time, beginning with "sonde: ".
 * Untrusted bytes in a message (paths, symbol names) are escaped here, so callers pass them raw.
 */

#include "base/error.h"

/*
 * Exit statuses beside EXIT_SUCCESS and EXIT_FAILURE.  A command that starts a program exits with
 * the program's status; its own failures are the three above 124, as in nohup(1) and timeout(1).
 */
enum {
	EXIT_USAGE = 2,
	EXIT_OVER = 3, /* a bound that the user set is exceeded (`sonde diff --fail-over`) */
	EXIT_OWN_FAILURE = 125,
	EXIT_NOT_EXECUTABLE = 126,
	EXIT_NOT_FOUND = 127,
};

/* "sonde: MESSAGE". */
void message_print(const char *format, ...) printf_like(1, 2);
/* "sonde: " and the message of err, which is destroyed, and its detail; err must not be NULL. */
void message_error(struct error *err);

#endif
