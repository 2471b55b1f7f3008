#ifndef SONDE_VIEW_TUI_TERMINAL_H
#define SONDE_VIEW_TUI_TERMINAL_H

/*
 * The terminal: canvases to it, keys and mouse from it.  There is only one, that of standard input
 * and output.  Its state is restored however the program ends, even by a crash of its own.
 */

#include <stdbool.h>

#include "base/error.h"
#include "view/tui/canvas.h"
#include "view/tui/key.h"

/* ERROR_UNSUPPORTED: there is no terminal, or it lacks what is needed. */
must_use struct error *terminal_open(bool no_color);
void terminal_close(void);
/* The terminal's current size; whether its locale is UTF-8. */
void terminal_size(unsigned *width, unsigned *height);
bool terminal_is_utf8(void);
/* Makes the terminal show the canvas, with as little output as possible. */
void terminal_show(const struct tui_canvas *canvas);
/* Releases the terminal for a while; the next terminal_show takes it again. */
void terminal_leave(void);
/*
 * Makes the next terminal_show set the terminal's modes and redraw everything, because others may
 * have used the terminal.
 */
void terminal_redraw(void);

enum terminal_event {
	TERMINAL_NOTHING, /* there is nothing to read */
	TERMINAL_KEY,
	TERMINAL_MOUSE,
	TERMINAL_RESIZE,
	TERMINAL_OTHER, /* something without meaning here; more may follow */
};
/* Reads what the user did, if anything; does not wait. */
enum terminal_event terminal_read(uint32_t *key, struct tui_mouse *mouse);
/*
 * Waits that long, or until there is something to read or a signal arrives.  False: the terminal is
 * gone.
 */
bool terminal_wait(uint64_t ms);

#endif
