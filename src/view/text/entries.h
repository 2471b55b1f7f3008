#ifndef SONDE_VIEW_TEXT_ENTRIES_H
#define SONDE_VIEW_TEXT_ENTRIES_H

/* Views whose entries have several rows (struct view's parts), as text: callers stand on top. */

#include "view/report.h"

/*
 * The shown rows as they are drawn: of each entry part 1, its callers, from the last to the first,
 * so that the heaviest is next to what it calls; then its own row; then the others.  The caller's,
 * to be freed.
 */
must_use uint32_t *entries_rows(const struct report *report);

#endif
