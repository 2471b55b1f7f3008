#ifndef SONDE_RECORD_EVENTS_COUNTER_PACE_H
#define SONDE_RECORD_EVENTS_COUNTER_PACE_H

/*
 * How often an event that the kernel counts in software is sampled.
 *
 * The kernel's own frequency mode does not do for these: it reckons from the time between two
 * events, so that a burst of them leads to a period so long that the next samples are seconds away,
 * and their weights come to more than there was.  So each such event is opened with several
 * periods, the gears, of which one is in force at a time; a sample weighs its period, and the sum
 * of the weights is the number of events, but for those that no sample has come after yet.
 */

#include <stdbool.h>
#include <stdint.h>

/* Of periods 1, 7, 61 and 509: enough for a million events a second. */
#define COUNTER_GEARS 4

struct counter_pace {
	uint64_t frequency_hz; /* samples a second that are wanted; 0: there is one gear */
	uint32_t gear;
	uint64_t window_ns; /* CLOCK_MONOTONIC: since when samples are counted; 0: not yet */
	uint64_t samples;   /* in this gear since then */
};

/* gear < COUNTER_GEARS. */
uint64_t counter_gear_period(uint32_t gear);

/*
 * A sample at time_ns, in the gear in force.  True: the gear has changed, as there are more than
 * twice as many as wanted.
 */
bool counter_pace_sample(struct counter_pace *p, uint64_t time_ns);
/*
 * To be called every now and then.  True: the gear has changed, as there are so few that the next
 * lower one would not give more than are wanted.
 */
bool counter_pace_look(struct counter_pace *p, uint64_t now_ns);

#endif
