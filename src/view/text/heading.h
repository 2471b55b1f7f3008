#ifndef SONDE_VIEW_TEXT_HEADING_H
#define SONDE_VIEW_TEXT_HEADING_H

#include "view/text/text.h"

/* What was measured: program, metric and total, samples, machine and time, what was filtered. */
void heading_draw(struct text *text, const struct report *report);

/* For the files of this part: the source and the command of a profile, in a line. */
void heading_draw_program(struct text *text, const char *before, const struct profile *profile);
/* heading_draw of a difference, but for its filters. */
void heading_draw_difference(struct text *text, const struct report *report);

#endif
