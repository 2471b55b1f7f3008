#ifndef SONDE_VIEW_TEXT_HIGHLIGHT_H
#define SONDE_VIEW_TEXT_HIGHLIGHT_H

/*
 * Splits source text into words, strings and comments, for colours.  Made for C and similar
 * languages (C++, Rust, Go, D, Java, JavaScript …), by their spelling only.  A misread token gets
 * the wrong colour, nothing worse.
 */

#include <stdbool.h>

#include "base/str.h"
#include "base/vec.h"

enum source_syntax {
	SOURCE_PLAIN,
	SOURCE_KEYWORD,
	SOURCE_STRING,
	SOURCE_NUMBER,
	SOURCE_COMMENT,
	SOURCE_DIRECTIVE, /* of the preprocessor */
};

struct syntax_span {
	size_t size; /* bytes; spans follow each other without gaps */
	enum source_syntax syntax;
};

/* All zero at the start of a file.  All lines must come, in order. */
struct highlight {
	bool in_comment;   /* the previous line left a block comment open */
	bool in_directive; /* the previous line was a directive that ended in a backslash */
	VEC(struct syntax_span) spans; /* of the last line; their sizes add up to the line's */
};

void highlight_deinit(struct highlight *h);
/* Splits a line, given without its line end, into h->spans. */
void highlight_line(struct highlight *h, struct str line);

#endif
