#ifndef SONDE_VIEW_SVG_SVG_H
#define SONDE_VIEW_SVG_SVG_H

#include "base/sink.h"
#include "view/report.h"

/*
 * A tree report as a flame graph: one SVG file that any browser shows, with a script for zooming
 * and searching.  For a difference, the width of a box is the new profile's weight; it is red if
 * the new weight is larger than the old one and blue if it is smaller.
 */
void svg_draw(struct sink *sink, const struct report *report);

#endif
