#ifndef SONDE_RECORD_EVENTS_COUNTER_PACE_H
#define SONDE_RECORD_EVENTS_COUNTER_PACE_H

/*
 * The sampling rate of an event that the kernel counts in software.
 *
 * The kernel's own frequency mode does not suit these.  It computes the period from the time
 * between two events, so a burst of them leads to a period so long that the next samples are
 * seconds away, and their weights add up to more events than there were.  So each such event is
 * opened with several periods, the gears, and one of them is active at a time.  A sample weighs its
 * period, and the sum of the weights is the number of events, except for those after the last
 * sample.
 */

#include <stdbool.h>
#include <stdint.h>

/* The periods are 1, 7, 61 and 509: enough for a million events a second. */
#define COUNTER_GEARS 4

struct counter_pace {
	uint64_t frequency_hz; /* wanted samples per second; 0: there is one gear */
	uint32_t gear;
	uint64_t window_ns; /* CLOCK_MONOTONIC: start of counting samples; 0: not yet */
	uint64_t samples;   /* in this gear, in the window */
};

/* gear < COUNTER_GEARS. */
uint64_t counter_gear_period(uint32_t gear);

/*
 * Counts a sample at time_ns in the active gear.  True: the gear has changed, because there are
 * more than twice as many samples as wanted.
 */
bool counter_pace_sample(struct counter_pace *p, uint64_t time_ns);
/*
 * Call it regularly.  True: the gear has changed, because samples are so few that the next lower
 * gear would not give more than wanted.
 */
bool counter_pace_look(struct counter_pace *p, uint64_t now_ns);

#endif
