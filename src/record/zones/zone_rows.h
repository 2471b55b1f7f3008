#ifndef SONDE_RECORD_ZONES_ZONE_ROWS_H
#define SONDE_RECORD_ZONES_ZONE_ROWS_H

/*
 * What is read from a program's memory of zones while it is recorded: rows of what its zones have
 * done, and where a thread was at a moment.
 */

#include "record/zones/zone_program.h"

/* ---- rows ---- */

/*
 * For each tick there are rows of the nodes that did anything in it.  What is in no tick (programs
 * without ticks, and the time between) gets rows from the counters, each tenth of a second.
 *
 * A row is how much a counter has grown beyond the rows so far.  So rows add up to the counters, to
 * the nanosecond, however many streams of ticks there are and whatever was lost.
 */

/* Begins.  What a program did before it was attached to is not recorded. */
void zone_rows_begin(struct zone_program *p);
/* Writes ended ticks to the file, and the rest if no tick has ended for a while. */
void zone_rows_look(struct zone_program *p, struct zone_context *c);
/* Writes the rest up to now, or to the program's end. */
void zone_rows_end(struct zone_program *p, struct zone_context *c);

/* ---- moments ---- */

/*
 * Where a thread was among its zones at a moment in the past, by its ring of events.
 */

enum zone_moment {
	ZONE_MOMENT_IN,	     /* in the zones of *node */
	ZONE_MOMENT_OUTSIDE, /* it had not entered any yet */
	ZONE_MOMENT_UNKNOWN, /* no ring, or overwritten */
};

/* Where the thread with that tid was; *node is of the program's memory. */
enum zone_moment zone_moment_find(
	struct zone_program *p, int64_t tid, uint64_t time_ns, uint32_t *node);

/* Writes all events since the last call to the file. */
void zone_moment_store(struct zone_program *p, struct zone_context *c);

#endif
