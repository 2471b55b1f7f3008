#ifndef SONDE_RECORD_ENGINES_PERF_PERF_TALLY_H
#define SONDE_RECORD_ENGINES_PERF_PERF_TALLY_H

/*
 * What the perf events of a recording have counted, and how many samples were lost.
 */

#include "record/engines/perf/perf_event.h"
#include "record/recording.h"

struct perf_tally {
	const struct perf_event_set *events;
	const struct recording *recording;
	struct perf_event_counts counts; /* when last asked */
	uint64_t asked_ns;		 /* that was then */
	uint64_t due_ns;		 /* not to be asked before */
	uint64_t lost_records;		 /* of samples, as the rings told */
	uint64_t passed_over;		 /* samples of others, by wide clocks */
};

/*
 * What the events count.  Asking them interrupts the target: where they are many they are asked
 * less often than it is wanted, but once sampling has stopped it is exact.
 */
struct perf_event_counts perf_tally_counts(struct perf_tally *t);
/*
 * Samples of the target that were lost so far.  Of what wide clocks have lost it is taken to have
 * the part that it has of all samples, rounded up.
 */
uint64_t perf_tally_lost(struct perf_tally *t);

#endif
