#ifndef SONDE_BASE_REGEX_H
#define SONDE_BASE_REGEX_H

/*
 * Regular expressions as Perl has them, by PCRE2 (pcre2pattern(3)): one dialect for options and for
 * those that stand in files.  Letters are Unicode's; in text that is no UTF-8 what is none matches
 * nothing.  "$" is the end of the text alone.  Groups capture nothing, so there is nothing that
 * "\1" could mean.
 *
 * PCRE2 tries one way after the other, and some patterns have 2^n of them, so steps are counted.
 */

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

struct regex;

enum regex_extent {
	REGEX_ANYWHERE, /* it is to be found in the text */
	REGEX_WHOLE,	/* it is to be the text */
};

/* ERROR_INPUT where it is no regular expression: why, and where. */
must_use struct error *regex_create(
	struct str pattern, enum regex_extent extent, struct regex **regex);
void regex_destroy(struct regex *regex);

enum regex_verdict {
	REGEX_NO,
	REGEX_YES,
	REGEX_GAVE_UP, /* more than *work steps would have been needed */
};

/*
 * Whether a text matches.  *work, how many steps may be taken, goes down by about those that were,
 * and a few hundred; to 0 where it gives up.  Not to be called by two threads at once for one
 * regex.
 */
enum regex_verdict regex_match(const struct regex *regex, struct str text, uint64_t *work);

#endif
