#ifndef SONDE_MODEL_ZONE_TABLES_H
#define SONDE_MODEL_ZONE_TABLES_H

/*
 * The ticks and zone events of a profile while it is built: they come in any order, and are sorted
 * into the profile's when it is finished.  For model/builder alone.
 */

#include "base/vec.h"
#include "model/profile.h"

struct zone_event_row {
	thread_id thread;
	stack_id stack;
	uint64_t time_ns;
	size_t place; /* in the order of arrival */
};

struct zone_tables {
	VEC(struct tick) ticks;
	VEC(struct zone_event_row) events;
};

void zone_tables_deinit(struct zone_tables *t);
void zone_tables_tick(struct zone_tables *t, struct tick tick);
void zone_tables_event(struct zone_tables *t, thread_id thread, uint64_t time_ns, stack_id stack);
/* Moves them into the profile, whose arena owns them. */
void zone_tables_freeze(struct zone_tables *t, struct profile *p);

#endif
