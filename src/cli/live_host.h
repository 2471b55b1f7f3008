#ifndef SONDE_CLI_LIVE_HOST_H
#define SONDE_CLI_LIVE_HOST_H

/* The terminal view of zones (view/tui), for running programs and files. */

#include "live/attach.h"
#include "view/tui/tui.h"

/*
 * Shows the view until the user leaves; *signal is the signal that ended it, or 0.  live: the
 * target from the command line, which is taken over; NULL: begin with the list of programs.
 */
must_use struct error *live_host_run(
	struct live *live, const struct tui_options *options, int *signal);

#endif
