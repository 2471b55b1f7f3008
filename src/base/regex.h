#ifndef SONDE_BASE_REGEX_H
#define SONDE_BASE_REGEX_H

/*
 * Perl-compatible regular expressions with PCRE2 (pcre2pattern(3)): one dialect for options and for
 * expressions in files.  Letters are Unicode letters; invalid UTF-8 matches nothing.  "$" matches
 * only at the end of the text.  Groups do not capture, so "\1" has no meaning.
 *
 * PCRE2 backtracks, and some patterns have 2^n alternatives, so steps are counted.
 */

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

struct regex;

enum regex_extent {
	REGEX_ANYWHERE, /* it must occur in the text */
	REGEX_WHOLE,	/* it must match the whole text */
};

/* ERROR_INPUT for an invalid expression, with the reason and position. */
must_use struct error *regex_create(
	struct str pattern, enum regex_extent extent, struct regex **regex);
void regex_destroy(struct regex *regex);

enum regex_verdict {
	REGEX_NO,
	REGEX_YES,
	REGEX_GAVE_UP, /* more than *work steps would have been needed */
};

/*
 * Whether a text matches. *work, the number of steps allowed, decreases by about the steps taken
 * plus a few hundred, and to 0 when it gives up.  Two threads must not use one regex at once.
 */
enum regex_verdict regex_match(const struct regex *regex, struct str text, uint64_t *work);

#endif
