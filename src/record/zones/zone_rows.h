#ifndef SONDE_RECORD_ZONES_ZONE_ROWS_H
#define SONDE_RECORD_ZONES_ZONE_ROWS_H

/*
 * Reads a program's zones memory while it is recorded: rows with the figures of its zones, and
 * the zones of a thread at a moment.
 */

#include "record/zones/zone_program.h"

/* ---- rows ---- */

/*
 * Each tick has rows for the nodes with activity in it.  Everything outside ticks (programs without
 * ticks, and the time between ticks) gets rows from the counters, every tenth of a second.
 *
 * A row is the growth of a counter since the previous rows.  So rows add up to the counters, to the
 * nanosecond, with any number of streams of ticks, even if some were lost.
 */

/* Begins.  Earlier activity of a program that is attached to is not recorded. */
void zone_rows_begin(struct zone_program *p);
/* Writes ended ticks to the file, and the rest if no tick has ended for a while. */
void zone_rows_look(struct zone_program *p, struct zone_context *c);
/* Writes the rest up to now, or to the program's end. */
void zone_rows_end(struct zone_program *p, struct zone_context *c);

/* ---- moments ---- */

/* Finds a thread's zones at a past moment, from its ring of events. */

enum zone_moment {
	ZONE_MOMENT_IN,	     /* in the zones of *node */
	ZONE_MOMENT_OUTSIDE, /* it had not entered a zone yet */
	ZONE_MOMENT_UNKNOWN, /* no ring, or overwritten */
};

/* Finds the zones of the thread with that tid; *node is a node of the program's memory. */
enum zone_moment zone_moment_find(
	struct zone_program *p, int64_t tid, uint64_t time_ns, uint32_t *node);

/* Writes all events since the last call to the file. */
void zone_moment_store(struct zone_program *p, struct zone_context *c);

#endif
