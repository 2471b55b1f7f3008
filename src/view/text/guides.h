#ifndef SONDE_VIEW_TEXT_GUIDES_H
#define SONDE_VIEW_TEXT_GUIDES_H

/*
 * The lines in front of a tree's names.  A tree that fits is indented once a level.  In a deeper
 * one an only child stands straight under its parent, so that long chains of calls take no room,
 * and the level column tells the depth; and where even that would leave no room for names, deeper
 * rows stand at the last indentation, behind a mark.
 */

#include "view/report.h"
#include "view/text/table.h"
#include "view/text/text.h"

struct guides;

/* report: of the tree view; borrowed. */
struct guides *guides_create(const struct report *report, const struct text_style *style);
void guides_destroy(struct guides *guides);

/* The table_label_fn of a tree's rows: guides in front; dots behind a stub; the module, where it is
 * another than the parent's.  Rows must come in order. */
void guides_label(void *guides, size_t place, struct table_label *label);

#endif
