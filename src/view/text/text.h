#ifndef SONDE_VIEW_TEXT_TEXT_H
#define SONDE_VIEW_TEXT_TEXT_H

/*
 * Reports for people to read, in a terminal or a file: a heading that says what was measured, one
 * or more views, and at the end every note of the profile.  All text that a profiled program could
 * have chosen has already been through escape_text.
 */

#include "view/report.h"
#include "base/sink.h"

struct text_style {
	size_t width;	/* maximum columns, names are cut to fit; 0: unlimited */
	bool color;	/* ECMA-48 colours */
	bool utf8;	/* use non-ASCII lines and dots */
	bool brief;	/* shorten what the profiled program could make long */
	bool all_notes; /* of the profile; else those of losses, or the first, and a count */
	/* Printed at the very end, may be NULL. */
	const char *hint;
};

enum ink {
	INK_PLAIN,
	INK_TITLE,
	INK_DIM,
	INK_HOT,  /* ten percent and more */
	INK_WARM, /* one percent and more */
	INK_STUB,
	INK_NOTE,
	/* Of source text, besides INK_DIM and INK_STUB. */
	INK_KEYWORD,
	INK_STRING,
	INK_NUMBER,
};

struct text_lines;

struct text {
	struct sink *sink;
	const struct text_style *style;
	enum ink ink; /* current */
	/* Collects inks and rows instead of colours in the text (view/text/lines.h); else NULL. */
	struct text_lines *lines;
};

/* Draws reports of one profile below each other, count ≥ 1. */
void text_draw(struct sink *sink, const struct text_style *style,
	const struct report *const *reports, size_t count);

/* For views (struct view's draw). */

/* Switches the colour of what follows; views switch back to INK_PLAIN. */
void text_ink(struct text *text, enum ink ink);
/* The next line shows this row of the report. */
void text_row(const struct text *text, size_t row);
/* Whether lines must be shorter than width, so that a table shows only its main columns. */
bool text_is_narrower(const struct text *text, size_t width);
/* A blank line and the view's title. */
void text_title(struct text *text, const char *format, ...) printf_like(2, 3);
/* Adds one or more separate lines with a remark on what is above. */
void text_note(struct text *text, struct str words);
/* Adds all notes below a report: the profile's and its remarks. */
void text_notes(struct text *text, const struct report *report);
/* Adds the notes of the report's analysis. */
void text_report_notes(struct text *text, const struct report *report);
/* Adds the profile's most important notes, for brief reports. */
void text_brief_notes(struct text *text, const struct report *report);
/* Prints how many rows --limit left out, if any. */
void text_more_rows(struct text *text, const struct report *report);

#endif
