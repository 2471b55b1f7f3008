#ifndef SONDE_FORMATS_COMMON_LINE_SCAN_H
#define SONDE_FORMATS_COMMON_LINE_SCAN_H

/*
 * Scans one line of text made of words, numbers and quoted strings, separated by blanks.  As with
 * struct cursor, the first missing item is remembered, and every further scan returns nothing, so
 * that a line can be scanned completely and checked once.
 */

#include "base/str.h"

struct line_scan {
	struct str rest;
	const char *problem; /* a literal; NULL: none so far */
};

struct line_scan line_scan_from(struct str line);
/* Remembers a problem (a literal) unless there is one already. */
void line_scan_fail(struct line_scan *s, const char *problem);
/* The next word, up to a blank; a failure at the end of the line. */
struct str line_scan_word(struct line_scan *s);
/* If word is next, skips it and returns true. */
bool line_scan_is(struct line_scan *s, const char *word);
/* The index of the next word in names, which end with NULL. */
size_t line_scan_choice(struct line_scan *s, const char *const *names);
/* Decimal, or hexadecimal after 0x; a failure above most. */
uint64_t line_scan_number(struct line_scan *s, uint64_t most);
int64_t line_scan_signed(struct line_scan *s);
/* A string as escape_bytes writes it, in quotes.  Its bytes are in buffer until the next call. */
struct str line_scan_string(struct line_scan *s, struct strbuf *buffer);
/* The number (1 to 2^32 - 1) after mark, if mark follows immediately, without a blank; else 1. */
uint32_t line_scan_nth(struct line_scan *s, char mark);
/* Whether anything but blanks is left. */
bool line_scan_more(struct line_scan *s);
/* Fails if anything but blanks is left. */
void line_scan_end(struct line_scan *s);

#endif
