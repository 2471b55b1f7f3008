#ifndef SONDE_ZONEREPORT_FOLLOW_H
#define SONDE_ZONEREPORT_FOLLOW_H

/*
 * Follows a program's zones from outside: looks at its memory from time to time, and puts the
 * frames found there into a history.
 *
 *	follow = zone_follow_create(&region);
 *	every 100 ms: zone_follow_look(follow);
 *	report = zone_report_create(zone_follow_history(follow), &query);
 *
 * The unit of a frame can be chosen: the ticks of a stream, which the program's ring keeps for some
 * seconds, so that there is a history at once; the time between two looks, for programs without
 * frames; or the whole run so far as one frame.
 *
 * No locks, one thread.  libc only.
 */

#include <stdbool.h>
#include <stdint.h>

#include "zonereport/history.h"
#include "zonereport/region.h"

/* What frames are: a number of a stream, or one of these. */
enum {
	ZONE_BASE_LOOKS = ZONEWIRE_STREAMS, /* from one look to the next */
	ZONE_BASE_RUN,			    /* all since the program's start; always one frame */
	/*
	 * Asked for only: stream 0 if it has ticks, as soon as it has; else looks, or the whole run
	 * of memory in which nothing runs any more.
	 */
	ZONE_BASE_AUTO,
};

struct zone_follow;

/* Of that region, which stays mapped as long.  Begins with ZONE_BASE_AUTO.  NULL: no memory. */
struct zone_follow *zone_follow_create(const struct zone_region *region);
void zone_follow_destroy(struct zone_follow *follow);
/* Who names zones that are functions, in all its histories.  Before the first look. */
void zone_follow_set_namer(struct zone_follow *follow, struct zone_namer namer);
/* Another base: the history begins anew, with what the ring still has.  False: no memory. */
bool zone_follow_set_base(struct zone_follow *follow, uint32_t base);
/* Never ZONE_BASE_AUTO. */
uint32_t zone_follow_base(const struct zone_follow *follow);
/*
 * Puts what happened since the last look into the history.  False: no memory, something is missing.
 */
bool zone_follow_look(struct zone_follow *follow);
/*
 * Looks were left out on purpose: what could not be read since the last one is no loss, and no
 * frame of the base ZONE_BASE_LOOKS.
 */
void zone_follow_resume(struct zone_follow *follow);
/* Good until the next look of an automatic base, or zone_follow_set_base. */
struct zone_history *zone_follow_history(const struct zone_follow *follow);
/* The last look at all counters; node_count is 0 before the first. */
const struct zone_reading *zone_follow_reading(const struct zone_follow *follow);
/* Bytes of frames that were overwritten before they could be read. */
uint64_t zone_follow_lost_bytes(const struct zone_follow *follow);

#endif
