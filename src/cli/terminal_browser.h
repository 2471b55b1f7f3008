#ifndef SONDE_CLI_TERMINAL_BROWSER_H
#define SONDE_CLI_TERMINAL_BROWSER_H

/* The terminal browser for commands: with sources and instructions of this machine. */

#include <stdbool.h>

#include "browse/browse.h"

/* Whether standard input and output are a terminal that can show it. */
bool terminal_browser_fits(void);
/*
 * Shows the session, as browse_run does, and later those of `live`, if its look is not NULL.
 * ERROR_UNSUPPORTED: the terminal cannot show it, and nothing was shown.  *signal: the signal that
 * ended it, or 0; after its own work, the caller ends with it by terminal_browser_raise.
 */
must_use struct error *terminal_browser_run(const struct question *question,
	struct session *session, const struct browse_live *live, int *signal);
/* Ends this process with the signal; returns if it is 0. */
void terminal_browser_raise(int signal);

#endif
