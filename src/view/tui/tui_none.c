/*
 * In place of the terminal view where sonde is built without ncurses.
 */

#include "view/tui/tui.h"

bool tui_is_built(void)
{
	return false;
}

struct error *tui_run(const struct tui_host *host, const struct tui_options *options, int *signal)
{
	(void)host, (void)options, (void)signal;
	return error_new(ERROR_UNSUPPORTED,
		"this sonde is built without ncurses and has no terminal view; "
		"`sonde live --once` prints the same once");
}
