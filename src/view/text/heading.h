#ifndef SONDE_VIEW_TEXT_HEADING_H
#define SONDE_VIEW_TEXT_HEADING_H

#include "view/text/text.h"

/* What was measured: program, metric and total, samples, machine and time, what was filtered. */
void heading_draw(struct text *text, const struct report *report);

#endif
