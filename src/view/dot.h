#ifndef SONDE_VIEW_DOT_H
#define SONDE_VIEW_DOT_H

#include "base/sink.h"
#include "view/report.h"

/*
 * The call graph in the language of Graphviz, for `dot -Tsvg`: a box for each function of the
 * report, with what was spent in it and below it, redder for more; an arrow for each caller and
 * callee, labelled with what was spent on its behalf, thicker for more.  Arrows within a cycle are
 * dashed, because the cycle's time cannot be divided among them.
 */
void dot_draw(struct sink *sink, const struct report *report);

#endif
