#ifndef SONDE_PAGE_THREAD_MARKS_H
#define SONDE_PAGE_THREAD_MARKS_H

/* What a page draws on the lanes of some threads: their zones and their events. */

#include "analysis/time_slices.h"
#include "page/reply.h"
#include "view/report.h"

#define THREAD_MARKS_MAX 256u /* threads at once */

/*
 * Adds to an open object of the reply "levels", how deep zones are nested, "zones", [name, module,
 * colour] of each, "events", their metrics' names, and columns:
 *
 *	bar_thread	of the profile, in the order of threads
 *	bar_depth, bar_zone, bar_count, bar_start, bar_end, bar_busy, bar_measured
 *			struct zone_bar; the zone is a place in "zones"
 *	event_thread, event_metric, event_slice, event_weight
 *			what the shown samples of that slice have of the metric, if it is not 0
 *
 * Events are those of the report's metric, if it is one of events, else of all such metrics.  Zones
 * shorter than two slices share bars.  The profile knows threads and times.
 */
void put_thread_marks(struct reply *reply, const struct report *report, const uint32_t *threads,
	size_t thread_count, struct time_slices slices);

#endif
