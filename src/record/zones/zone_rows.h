#ifndef SONDE_RECORD_ZONES_ZONE_ROWS_H
#define SONDE_RECORD_ZONES_ZONE_ROWS_H

/*
 * What a program's zones have done, as rows of a capture file: for each tick those of the nodes
 * that did anything in it; what is in no tick (programs without ticks, and the time between) by
 * looks at the counters, each tenth of a second.
 *
 * A row is how much a counter has grown beyond what rows have so far.  So rows add up to the
 * counters, to the nanosecond, however many streams of ticks there are and whatever was lost.
 */

#include "record/zones/zone_program.h"

/* Sets the beginning: of a program that ran before, what it has done is not recorded. */
void zone_rows_begin(struct zone_program *p);
/* Puts the ticks that have ended into the file, and the rest if no tick has ended for a while. */
void zone_rows_look(struct zone_program *p, struct zone_context *c);
/* The rest up to now, or to the program's end. */
void zone_rows_end(struct zone_program *p, struct zone_context *c);

#endif
