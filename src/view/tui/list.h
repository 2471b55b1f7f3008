#ifndef SONDE_VIEW_TUI_LIST_H
#define SONDE_VIEW_TUI_LIST_H

/* Lists that are longer than the screen, with a cursor. */

#include <stdbool.h>
#include <stddef.h>

#include "view/tui/canvas.h"
#include "view/tui/key.h"

/* A scrolling list with a cursor. */
struct tui_list {
	size_t count, cursor, top;
	unsigned y, height; /* where it was drawn last */
};

/* Keeps cursor and top within count and height, and the cursor visible. */
void tui_list_settle(struct tui_list *list);
/* Moves the cursor by that many rows, clamped. */
void tui_list_move(struct tui_list *list, long by);
/* Handles keys that move in lists; returns whether the key was one. */
bool tui_list_key(struct tui_list *list, uint32_t key);
/* Finds the row of the list at a row of the screen; false: none. */
bool tui_list_at(const struct tui_list *list, unsigned y, size_t *row);
/* If only a part is shown, draws a bar at the right that shows which. */
void tui_list_draw_bar(const struct tui_list *list, struct tui_canvas *canvas, unsigned x);

#endif
