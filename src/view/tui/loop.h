#ifndef SONDE_VIEW_TUI_LOOP_H
#define SONDE_VIEW_TUI_LOOP_H

/* Runs what is shown on the terminal, until the user leaves. */

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "view/tui/canvas.h"
#include "view/tui/key.h"

/* What runs.  Times are in milliseconds of the monotonic clock. */
struct tui_app {
	void *data; /* the first argument of all functions */
	/* Looks for changes, if it is time to. */
	void (*tick)(void *data, uint64_t now_ms);
	/* Until the next tick has something to do. */
	uint64_t (*wait_ms)(void *data, uint64_t now_ms);
	void (*key)(void *data, uint32_t key);
	void (*mouse)(void *data, struct tui_mouse mouse);
	/* Draws on a canvas that has been cleared at the size of the screen. */
	void (*draw)(void *data, struct tui_canvas *canvas);
	bool (*is_done)(void *data);
};

/* Whether this build has terminal views: they need ncurses. */
bool tui_is_built(void);

/*
 * Runs it on the terminal of standard input and output until it is done, the terminal is gone, or
 * SIGTERM, SIGINT or SIGHUP arrives.  *signal is then the signal's number, else 0; the terminal is
 * restored.  ERROR_UNSUPPORTED without a terminal, or if this build has no terminal views.
 */
must_use struct error *tui_loop(const struct tui_app *app, bool no_color, int *signal);

#endif
