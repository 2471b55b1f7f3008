#ifndef SONDE_VIEW_TUI_LINE_H
#define SONDE_VIEW_TUI_LINE_H

/* A line that the user types. */

#include <stdbool.h>
#include <stdint.h>

#include "view/tui/canvas.h"
#include "view/tui/key.h"

struct tui_line {
	char text[256]; /* UTF-8, NUL-terminated */
};

void tui_line_set(struct tui_line *line, struct str text);
/* Adds the character, or removes some; returns whether the key was an editing key. */
bool tui_line_key(struct tui_line *line, uint32_t key);
/* Draws the label and the line, or the end of a long line, followed by the terminal's cursor. */
void tui_line_draw(
	const struct tui_line *line, struct tui_canvas *canvas, unsigned y, const char *label);

#endif
