#ifndef SONDE_VIEW_TEXT_HEADING_H
#define SONDE_VIEW_TEXT_HEADING_H

#include "view/text/text.h"

/* What was measured: program, metric and total, samples, machine and time, what was filtered. */
void heading_draw(struct text *text, const struct report *report);

/* Adds how much of the profile's weight the filters up to that step keep: "25.3%". */
void heading_put_share(
	struct strbuf *out, const struct report *report, const struct selection_step *step);

/* Private to heading*.c: the source and the command of a profile on one line. */
void heading_draw_program(struct text *text, const char *before, const struct profile *profile);
/* heading_draw for a difference, without its filters. */
void heading_draw_difference(struct text *text, const struct report *report);

#endif
