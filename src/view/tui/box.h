#ifndef SONDE_VIEW_TUI_BOX_H
#define SONDE_VIEW_TUI_BOX_H

/* A box in the middle of the screen, and the help that is shown in one. */

#include <stdbool.h>
#include <stddef.h>

#include "view/tui/canvas.h"

/* The inside of a box. */
struct tui_box {
	unsigned y, x, height, width;
};

/* Draws an empty box with room for that much inside, or as much as the screen has. */
struct tui_box tui_box_draw(
	struct tui_canvas *canvas, unsigned width, unsigned height, const char *title);

struct tui_key_help {
	const char *key, *does;
};

/* What the keys do, and notes below them. */
struct tui_help {
	const char *title;
	const struct tui_key_help *keys;
	size_t key_count;
	const char *const *notes;
	size_t note_count;
};

/* How far the help is scrolled; all zero at first. */
struct tui_help_state {
	size_t top;
	unsigned page;
};

void tui_help_draw(
	const struct tui_help *help, struct tui_help_state *state, struct tui_canvas *canvas);
/* Scrolls; false: the key does not, so it closes the help, whose state is then reset. */
bool tui_help_key(const struct tui_help *help, struct tui_help_state *state, uint32_t key);

#endif
