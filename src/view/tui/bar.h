#ifndef SONDE_VIEW_TUI_BAR_H
#define SONDE_VIEW_TUI_BAR_H

/* The last line of a screen: what the most useful keys do. */

#include "view/tui/box.h"

/* As many as fit, each with its action. */
void tui_bar_draw(
	struct tui_canvas *canvas, unsigned y, const struct tui_key_help *keys, size_t count);

#endif
