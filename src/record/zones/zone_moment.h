#ifndef SONDE_RECORD_ZONES_ZONE_MOMENT_H
#define SONDE_RECORD_ZONES_ZONE_MOMENT_H

/*
 * Where a thread was among its zones at a moment that is past, by its ring of events.
 */

#include "record/zones/zone_program.h"

enum zone_moment {
	ZONE_MOMENT_IN,	     /* in the zones of that node */
	ZONE_MOMENT_OUTSIDE, /* it had not entered any yet */
	ZONE_MOMENT_UNKNOWN, /* there is no ring, or it has been written over */
};

/* Of the thread with that tid; *node is of the program's memory. */
enum zone_moment zone_moment_find(
	struct zone_program *p, int64_t tid, uint64_t time_ns, uint32_t *node);

/* Puts all events since the last call into the file. */
void zone_moment_store(struct zone_program *p, struct zone_context *c);

#endif
