#ifndef SONDE_VIEW_TEXT_LISTING_TEXT_H
#define SONDE_VIEW_TEXT_LISTING_TEXT_H

#include "view/report.h"
#include "view/text/text.h"

/*
 * Draws a report of the annotate view: the function and its figures; its source, with inlined code
 * below the line of the call; its instructions, below their source lines.
 */
void listing_text_draw(struct text *text, const struct report *report);

#endif
