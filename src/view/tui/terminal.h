#ifndef SONDE_VIEW_TUI_TERMINAL_H
#define SONDE_VIEW_TUI_TERMINAL_H

/*
 * The terminal: canvases to it, keys and mouse from it.  There is one, that of standard input and
 * output.  Whatever ends the program, a crash of its own too, it is left as it was found.
 */

#include <stdbool.h>

#include "base/error.h"
#include "view/tui/canvas.h"
#include "view/tui/key.h"

/* ERROR_UNSUPPORTED: there is none, or one that can do too little. */
must_use struct error *terminal_open(bool no_color);
void terminal_close(void);
/* The size it has now; whether its locale is UTF-8. */
void terminal_size(unsigned *width, unsigned *height);
bool terminal_is_utf8(void);
/* Makes the terminal show the canvas, by as little output as that takes. */
void terminal_show(const struct tui_canvas *canvas);
/* Gives the terminal back for a while; the next terminal_show takes it again. */
void terminal_leave(void);
/*
 * All is drawn again by the next terminal_show, and the terminal set as it should be: others may
 * have used it.
 */
void terminal_redraw(void);

enum terminal_event {
	TERMINAL_NOTHING, /* there is nothing to read */
	TERMINAL_KEY,
	TERMINAL_MOUSE,
	TERMINAL_RESIZE,
	TERMINAL_OTHER, /* something that means nothing here; more may wait behind it */
};
/* What the user has done, if anything; does not wait. */
enum terminal_event terminal_read(uint32_t *key, struct tui_mouse *mouse);
/*
 * Waits so long, or until there is something to read, or a signal came.  False: the terminal is
 * gone.
 */
bool terminal_wait(uint64_t ms);

#endif
