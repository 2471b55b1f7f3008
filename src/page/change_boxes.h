#ifndef SONDE_PAGE_CHANGE_BOXES_H
#define SONDE_PAGE_CHANGE_BOXES_H

/*
 * The flame graph of a difference, as a page draws it: boxes as wide as the new profile, or as the
 * old one, coloured by what changed.
 */

#include "page/reply.h"
#include "view/report.h"

/*
 * Adds to an open object of the reply what "flame" has (module.c), and columns of each box's "old"
 * and "now" weight, in it or under it, "own_old" and "own_now", in it alone, its "colour", and
 * "mark": 1 if it changed by more than chance, 0 if perhaps not, NO_ID if that is not known.
 * report: of view tree, of a difference, with all rows.  limit: the widest boxes at most; 0: all.
 */
void put_change_boxes(
	struct reply *reply, const struct report *report, bool is_by_old, size_t limit);

#endif
