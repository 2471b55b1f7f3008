#ifndef SONDE_VIEW_FOLDED_H
#define SONDE_VIEW_FOLDED_H

#include "view/report.h"
#include "base/sink.h"

/*
 * A tree report as folded stacks: each path of the tree, collapsed or not, in which time was spent,
 * with its in-only weight.  Stubs are not paths.
 */
void folded_draw(struct sink *sink, const struct report *report);

#endif
