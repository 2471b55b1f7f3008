#ifndef SONDE_VIEW_TEXT_ENTRIES_H
#define SONDE_VIEW_TEXT_ENTRIES_H

/* Views whose entries have several rows (struct view's parts), as text: callers come first. */

#include "view/report.h"

/*
 * The shown rows in the order in which they are drawn.  For each entry: part 1, its callers, from
 * last to first, so that the heaviest is next to the entry; then the entry's own row; then the
 * others.  The caller frees the result.
 */
must_use uint32_t *entries_rows(const struct report *report);

#endif
