#ifndef SONDE_VIEW_TEXT_LINES_H
#define SONDE_VIEW_TEXT_LINES_H

/*
 * A report's text as lines in memory, for those who show a part of them: each with its inks, and
 * the row of the report that it shows.
 */

#include "base/vec.h"
#include "view/text/text.h"

/* From this byte of the text on, up to the next span. */
struct text_span {
	size_t begin;
	enum ink ink;
};

struct text_line {
	size_t begin, end;  /* bytes of the text, without the line's end */
	uint32_t row;	    /* of the report; NO_ID: none */
	size_t span_begin;  /* the first span that begins in the line, or after it */
	enum ink ink_begin; /* at its begin */
};

/* All zero: no lines. */
struct text_lines {
	struct strbuf text;
	VEC(struct text_line) lines;
	VEC(struct text_span) spans;
	/*
	 * The first lines, title and headings, stay while others scroll: those before the first
	 * row, or one if there are no rows.
	 */
	size_t head_count;
	/* While it is drawn: where lines of rows begin. */
	VEC(struct text_line) rows;
};

void text_lines_deinit(struct text_lines *lines);
/* Draws the report's view, with all notes below, in place of what was there. */
void text_lines_draw(
	struct text_lines *lines, const struct report *report, const struct text_style *style);

/* For text.c: what comes at that byte of the text. */
void text_lines_ink(struct text_lines *lines, size_t at, enum ink ink);
void text_lines_row(struct text_lines *lines, size_t at, size_t row);

#endif
