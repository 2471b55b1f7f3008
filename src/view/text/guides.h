#ifndef SONDE_VIEW_TEXT_GUIDES_H
#define SONDE_VIEW_TEXT_GUIDES_H

/*
 * The lines in front of a tree's names.  A tree that fits is indented once a level.  In a deeper
 * tree an only child has the indentation of its parent, so that long chains of calls take no room,
 * and the level column shows the depth.  If even that leaves no room for names, deeper rows have
 * the last indentation, after a mark.
 */

#include "view/report.h"
#include "view/text/table.h"
#include "view/text/text.h"

struct guides;

/* report: of the tree view; borrowed. */
struct guides *guides_create(const struct report *report, const struct text_style *style);
void guides_destroy(struct guides *guides);

/*
 * The table_label_fn of a tree's rows: guides before the name, dots after a stub, the module if it
 * differs from the parent's.  Rows must come in order.
 */
void guides_label(void *guides, size_t place, struct table_label *label);

#endif
