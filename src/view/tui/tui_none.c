/*
 * In place of the loop where sonde is built without ncurses.
 */

#include "view/tui/loop.h"

bool tui_is_built(void)
{
	return false;
}

struct error *tui_loop(const struct tui_app *app, bool no_color, int *signal)
{
	(void)app, (void)no_color, (void)signal;
	return error_new(
		ERROR_UNSUPPORTED, "this sonde is built without ncurses and has no terminal view");
}
