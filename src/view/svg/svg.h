#ifndef SONDE_VIEW_SVG_SVG_H
#define SONDE_VIEW_SVG_SVG_H

#include "base/sink.h"
#include "view/report.h"

/*
 * A tree report as a flame graph: one SVG file that any browser shows, with a script for zooming
 * and searching.  Of a difference, boxes are as wide as the new profile's weights, red where it has
 * more than the old one and blue where it has less.
 */
void svg_draw(struct sink *sink, const struct report *report);

#endif
