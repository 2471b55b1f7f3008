#ifndef SONDE_VIEW_TUI_CANVAS_H
#define SONDE_VIEW_TUI_CANVAS_H

/*
 * A screen in memory: cells of characters and styles.  All drawing goes here; terminal.c decides
 * what is sent to the terminal and which colours the styles have.  Nothing here can fail.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* The meaning of text, not its appearance. */
enum tui_style {
	TUI_PLAIN,
	TUI_TITLE,   /* the name of what is shown */
	TUI_DIM,     /* of little interest at the moment */
	TUI_LABEL,   /* describes the figure next to it */
	TUI_KEY,     /* a key in the line of keys */
	TUI_HEAD,    /* a column's head */
	TUI_SORTED,  /* the head of the column that rows are sorted by */
	TUI_TROUBLE, /* something is wrong */
	TUI_GOOD,
	TUI_NOTICE, /* an unusual state: paused, frozen, stopped */
	TUI_FOCUS,  /* the zone that others are shown around */
	TUI_MATCH,  /* what was searched for */
	TUI_BAR,    /* of the frame graph */
	TUI_BAR_SLOW,
	TUI_BAR_SHOWN,
	TUI_FRAME,	/* around overlays */
	TUI_BOX_CHOSEN, /* of a flame graph: of the selected function */
	TUI_BOX,	/* and the TUI_BOXES - 1 styles after it, for different modules */
	TUI_BOXES = 6,
	TUI_HEAT = TUI_BOX +
		   TUI_BOXES, /* and the TUI_HEATS - 1 styles after it; the last is the hottest */
	TUI_HEATS = 8,
	TUI_STYLES = TUI_HEAT + TUI_HEATS,
};

struct tui_cell {
	uint32_t code[3]; /* a character and up to two that combine with it; 0: none */
	uint8_t style;	  /* enum tui_style */
	uint8_t selected; /* the cursor's row */
	uint8_t width;	  /* columns: 1 or 2; 0: the right half of the previous cell */
	uint8_t reserved;
};

struct tui_canvas {
	unsigned width, height;
	bool utf8;	       /* else everything is converted to ASCII */
	struct tui_cell *cell; /* [height * width] */
	/* The position of the terminal's own cursor, for typing. */
	bool has_cursor;
	unsigned cursor_x, cursor_y;
};

void tui_canvas_init(struct tui_canvas *canvas);
void tui_canvas_deinit(struct tui_canvas *canvas);
/* Clears the canvas and resizes it; width and height are limited to 1 to 1000. */
void tui_canvas_clear(struct tui_canvas *canvas, unsigned width, unsigned height);

/*
 * Writes text, which must be escaped by escape_text or our own, from column x up to but excluding
 * column `end`; returns the column after it.  What does not fit, or is outside the canvas, is left
 * out.
 */
unsigned tui_put(struct tui_canvas *canvas, unsigned y, unsigned x, unsigned end,
	enum tui_style style, struct str text);
/* The same with a format; %s must not get foreign bytes. */
unsigned tui_printf(struct tui_canvas *canvas, unsigned y, unsigned x, unsigned end,
	enum tui_style style, const char *format, ...) printf_like(6, 7);
/* Writes a foreign name: escaped, and cut in its middle if it is too wide. */
unsigned tui_put_name(struct tui_canvas *canvas, unsigned y, unsigned x, unsigned end,
	enum tui_style style, struct str name);
/*
 * Right-aligned, ends before column `end`; if it does not fit between x and there, '#' fill the
 * space.
 */
void tui_put_right(struct tui_canvas *canvas, unsigned y, unsigned x, unsigned end,
	enum tui_style style, struct str text);
/* Writes blanks in a style. */
void tui_fill(
	struct tui_canvas *canvas, unsigned y, unsigned x, unsigned end, enum tui_style style);
/*
 * Draws a bar from x that covers that part (0 to 1) of the columns up to end, in eighths of a
 * column.
 */
void tui_put_bar(struct tui_canvas *canvas, unsigned y, unsigned x, unsigned end,
	enum tui_style style, double part);
/* Marks the cells of a row from x to before end as the cursor's. */
void tui_select(struct tui_canvas *canvas, unsigned y, unsigned x, unsigned end);
/* Changes the style of cells that are already written. */
void tui_restyle(
	struct tui_canvas *canvas, unsigned y, unsigned x, unsigned end, enum tui_style style);
/* The row as text, without trailing blanks; for tests. */
void tui_canvas_row(const struct tui_canvas *canvas, unsigned y, struct strbuf *out);

#endif
