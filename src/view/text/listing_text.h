#ifndef SONDE_VIEW_TEXT_LISTING_TEXT_H
#define SONDE_VIEW_TEXT_LISTING_TEXT_H

#include "view/report.h"
#include "view/text/text.h"

/*
 * Draws a report of the annotate view: the function and its figures; its source, what is inlined
 * below the line of the call; its instructions, below the lines that they came from.
 */
void listing_text_draw(struct text *text, const struct report *report);

#endif
