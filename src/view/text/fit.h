#ifndef SONDE_VIEW_TEXT_FIT_H
#define SONDE_VIEW_TEXT_FIT_H

/* Fits long names into little room. */

#include <stdbool.h>

#include "base/str.h"

/*
 * Adds text, already escaped by escape_text, in at most `width` terminal columns.  If it does not
 * fit, a dot replaces its middle, because names differ at both ends.  Arguments are removed first:
 * `sort(Iterator, Iterator)` becomes `sort(…)`.
 */
void fit_text(struct strbuf *out, struct str text, size_t width, bool utf8);

/*
 * Adds the beginning of such text, at most `width` columns, with a dot for the rest: in source
 * code, the end of a line matters least.
 */
void fit_start(struct strbuf *out, struct str text, size_t width, bool utf8);

#endif
