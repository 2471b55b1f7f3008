#ifndef SONDE_RECORD_ZONES_ZONE_CLOCK_H
#define SONDE_RECORD_ZONES_ZONE_CLOCK_H

/*
 * The clock of a program's zones beside that of samples, CLOCK_MONOTONIC: which tick of the one was
 * at which nanosecond of the other.
 *
 * The kernel offers its own conversion of the processor's clock (cap_user_time_zero) only for its
 * own clock, and samples are taken by another.  So both clocks are read together now and then, as
 * often as rings are emptied, and what is between two readings is interpolated: exact to what it
 * takes to read the clock, some tens of nanoseconds, whatever else corrects the one or the other.
 */

#include <stdint.h>

#include "zonereport/region.h"

enum { ZONE_CLOCK_PAIRS = 64 };

struct zone_clock_pair {
	uint64_t ticks, time_ns;
};

struct zone_clock {
	const struct zone_region *region;		/* the program's; stays as long */
	struct zone_clock_pair pairs[ZONE_CLOCK_PAIRS]; /* ascending */
	uint32_t count;
};

/* Begins with what the program itself says of its start. */
void zone_clock_init(struct zone_clock *c, const struct zone_region *region);
/* Reads both clocks, if that was not done in the last few milliseconds. */
void zone_clock_look(struct zone_clock *c);
uint64_t zone_clock_time_ns(const struct zone_clock *c, uint64_t ticks);
uint64_t zone_clock_ticks(const struct zone_clock *c, uint64_t time_ns);

#endif
