#ifndef SONDE_VIEW_DOT_H
#define SONDE_VIEW_DOT_H

#include "base/sink.h"
#include "view/report.h"

/*
 * The call graph in the language of Graphviz, for `dot -Tsvg`: a box for each function of the
 * report, with what was spent in it and below it, redder for more; an arrow for each pair that
 * calls, with what was spent on its behalf, as thick as that is.  Arrows within a cycle are dashed,
 * as nobody can say how much of the cycle's time is theirs.
 */
void dot_draw(struct sink *sink, const struct report *report);

#endif
