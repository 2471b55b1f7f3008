#ifndef SONDE_VIEW_SVG_ROWS_H
#define SONDE_VIEW_SVG_ROWS_H

/*
 * The rows of a flame graph: callers above their callees, so that the root is on top.  A long run
 * of frames that do nothing but call the next is folded into one row.  Only boxes that are wide
 * enough to see take rows; flame.js shows others when a box around them is zoomed.
 */

#include "analysis/flame.h"

struct svg_rows {
	const uint32_t *row; /* [box] */
	/* [box]: how many are folded from it on; 0: none, or the fold began before it. */
	const uint32_t *folded;
	const bool *is_hidden; /* [box]: inside a fold, or too narrow */
	uint32_t count;	       /* rows of what is not hidden */
};

/* narrow: boxes of less width are too narrow to see.  Lives in the arena. */
must_use struct svg_rows *svg_rows_create(
	const struct flame *flame, uint64_t narrow, struct arena *arena);

#endif
