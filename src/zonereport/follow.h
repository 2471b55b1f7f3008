#ifndef SONDE_ZONEREPORT_FOLLOW_H
#define SONDE_ZONEREPORT_FOLLOW_H

/*
 * Follows a program's zones from outside: reads its memory from time to time, and adds the frames
 * found there to a history.
 *
 * 	follow = zone_follow_create(&region);
 * 	every 100 ms: zone_follow_look(follow);
 * 	report = zone_report_create(zone_follow_history(follow), &query);
 *
 * The unit of a frame can be chosen: the ticks of a stream, which the program's ring keeps for some
 * seconds, so that there is a history immediately; the time between two calls of zone_follow_look,
 * for programs without frames; or the whole run so far as one frame.
 *
 * No locks, one thread.  libc only.
 */

#include <stdbool.h>
#include <stdint.h>

#include "zonereport/history.h"
#include "zonereport/region.h"

/* The unit of frames: a stream's number, or one of these. */
enum {
	ZONE_BASE_LOOKS = ZONEWIRE_STREAMS, /* from one call of zone_follow_look to the next */
	ZONE_BASE_RUN,			    /* everything since the program's start, as one frame */
	/*
	 * For requests only: stream 0 as soon as it has ticks; before that LOOKS, or for memory of
	 * an ended program RUN.
	 */
	ZONE_BASE_AUTO,
};

struct zone_follow;

/* Follows a region, which must stay mapped.  Begins with ZONE_BASE_AUTO.  NULL: out of memory. */
struct zone_follow *zone_follow_create(const struct zone_region *region);
void zone_follow_destroy(struct zone_follow *follow);
/*
 * Sets the namer of zones that are functions, for all its histories; call it before the first look.
 */
void zone_follow_set_namer(struct zone_follow *follow, struct zone_namer namer);
/* Changes the base: the history restarts with what the ring still has.  False: out of memory. */
bool zone_follow_set_base(struct zone_follow *follow, uint32_t base);
/* Never ZONE_BASE_AUTO. */
uint32_t zone_follow_base(const struct zone_follow *follow);
/*
 * Adds what happened since the last call to the history.  False: out of memory, something is
 * missing.
 */
bool zone_follow_look(struct zone_follow *follow);
/*
 * Calls were skipped on purpose: data missed since the last one does not count as lost, and is no
 * frame of ZONE_BASE_LOOKS.
 */
void zone_follow_resume(struct zone_follow *follow);
/* Valid until the next look with an automatic base, or zone_follow_set_base. */
struct zone_history *zone_follow_history(const struct zone_follow *follow);
/* The last reading of all counters; node_count is 0 before the first. */
const struct zone_reading *zone_follow_reading(const struct zone_follow *follow);
/* Bytes of frames that were overwritten before they could be read. */
uint64_t zone_follow_lost_bytes(const struct zone_follow *follow);

#endif
