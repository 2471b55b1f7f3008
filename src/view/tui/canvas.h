#ifndef SONDE_VIEW_TUI_CANVAS_H
#define SONDE_VIEW_TUI_CANVAS_H

/*
 * A screen in memory: cells of characters and styles.  All drawing goes here; what a terminal then
 * gets of it, and which colours stand for the styles, is curses.c's.  Nothing here can fail.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* What something is; not how it looks. */
enum tui_style {
	TUI_PLAIN,
	TUI_TITLE,   /* the name of what is shown */
	TUI_DIM,     /* of little interest at the moment */
	TUI_LABEL,   /* says what the figure beside it is */
	TUI_KEY,     /* a key in the line of keys */
	TUI_HEAD,    /* a column's head */
	TUI_SORTED,  /* the head of the column that is sorted by */
	TUI_TROUBLE, /* something is wrong */
	TUI_GOOD,
	TUI_NOTICE, /* a state other than usual: paused, frozen, stopped */
	TUI_FOCUS,  /* the zone that others are shown around */
	TUI_MATCH,  /* what was searched for */
	TUI_BAR,    /* of the frame graph */
	TUI_BAR_SLOW,
	TUI_BAR_SHOWN,
	TUI_FRAME, /* around overlays */
	TUI_HEAT,  /* and the TUI_HEATS - 1 behind it, the last the hottest */
	TUI_HEATS = 8,
	TUI_STYLES = TUI_HEAT + TUI_HEATS,
};

struct tui_cell {
	uint32_t code[3]; /* a character and up to two that combine with it; 0: none */
	uint8_t style;	  /* enum tui_style */
	uint8_t selected; /* the cursor's row */
	uint8_t width;	  /* columns: 1 or 2; 0: the right half of the one before */
	uint8_t reserved;
};

struct tui_canvas {
	unsigned width, height;
	bool utf8;	       /* else all that is not ASCII becomes it */
	struct tui_cell *cell; /* [height * width] */
	/* Where the terminal's own cursor stands, for typing. */
	bool has_cursor;
	unsigned cursor_x, cursor_y;
};

void tui_canvas_init(struct tui_canvas *canvas);
void tui_canvas_deinit(struct tui_canvas *canvas);
/* Empties it, at a new size, both limited to 1 to 1000. */
void tui_canvas_clear(struct tui_canvas *canvas, unsigned width, unsigned height);

/*
 * Writes text, which escape_text has passed (or is ours), from column x to before column `end`;
 * returns the column behind it.  What does not fit, also outside of the canvas, is left out.
 */
unsigned tui_put(struct tui_canvas *canvas, unsigned y, unsigned x, unsigned end,
	enum tui_style style, struct str text);
/* printf with it; no %s of foreign bytes. */
unsigned tui_printf(struct tui_canvas *canvas, unsigned y, unsigned x, unsigned end,
	enum tui_style style, const char *format, ...) printf_like(6, 7);
/* A foreign name: escaped, and cut in its middle if it is wider than from x to end. */
unsigned tui_put_name(struct tui_canvas *canvas, unsigned y, unsigned x, unsigned end,
	enum tui_style style, struct str name);
/* Ends before column `end`; where it does not fit behind `x`, '#' fill the place. */
void tui_put_right(struct tui_canvas *canvas, unsigned y, unsigned x, unsigned end,
	enum tui_style style, struct str text);
/* Blanks of a style. */
void tui_fill(
	struct tui_canvas *canvas, unsigned y, unsigned x, unsigned end, enum tui_style style);
/* A bar from x on, of that part (0 to 1) of the way to end, in eighths of a column. */
void tui_put_bar(struct tui_canvas *canvas, unsigned y, unsigned x, unsigned end,
	enum tui_style style, double part);
/* Marks the cells of a row from x to before end as the cursor's. */
void tui_select(struct tui_canvas *canvas, unsigned y, unsigned x, unsigned end);
/* Gives cells that are written already another style. */
void tui_restyle(
	struct tui_canvas *canvas, unsigned y, unsigned x, unsigned end, enum tui_style style);
/* The row as text, blanks at its end left out; for tests. */
void tui_canvas_row(const struct tui_canvas *canvas, unsigned y, struct strbuf *out);

#endif
