#ifndef SONDE_VIEW_TEXT_FIT_H
#define SONDE_VIEW_TEXT_FIT_H

/* Long names in little room. */

#include <stdbool.h>

#include "base/str.h"

/*
 * Adds text, which escape_text has passed, in at most `width` terminal columns.  What does not fit
 * is taken out of the middle, where a dot stands for it: names differ at both their ends.  Of a
 * name with arguments, those go first: `sort(Iterator, Iterator)` becomes `sort(…)`.
 */
void fit_text(struct strbuf *out, struct str text, size_t width, bool utf8);

/*
 * Adds as much of the beginning of such text as takes at most `width` columns, with a dot for what
 * is cut off: of source code the end says least.
 */
void fit_start(struct strbuf *out, struct str text, size_t width, bool utf8);

#endif
