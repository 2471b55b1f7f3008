#ifndef SONDE_RECORD_ENGINES_PERF_COUNTERS_H
#define SONDE_RECORD_ENGINES_PERF_COUNTERS_H

/*
 * What perf events count: the CPU time of the target and its lost samples, and the events that are
 * recorded in addition to time.
 */

#include <linux/perf_event.h>

#include "record/engines/engine.h"
#include "record/engines/perf/perf_event.h"
#include "record/events/counter_pace.h"
#include "record/recording.h"

/* ---- CPU time and losses ---- */

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

/* ---- other events ---- */

/*
 * What their samples weigh, how often they are taken, and what the kernel has counted.
 */

struct counters {
	struct perf_event_set *events;
	struct recording *recording;
	struct counter_pace paces[CAPTURE_METRIC_MAX];
};

/* events: opened, with counters or without; it and the recording must outlive the counters. */
void counters_init(struct counters *c, struct perf_event_set *events, struct recording *recording);

/* A sample of one of them. */
struct counted_sample {
	struct perf_sample sample;
	const struct perf_gear *gear;
};
/* Decodes a record of a ring of counters.  False: malformed. */
bool counters_read(const struct counters *c, const struct perf_event_header *header,
	const struct perf_source *source, struct counted_sample *counted);
/* Walks and writes it. */
void counters_take(struct counters *c, const struct counted_sample *counted);

/* To be called after each drain: what has become rare is sampled more often. */
void counters_look(struct counters *c, uint64_t now_ns);
/* Takes samples at the frequencies that were asked for, halved so many times. */
void counters_slow_down(struct counters *c, uint32_t halvings);
/* What the kernel has counted; is_whole: of all that is recorded, and nothing else. */
void counters_tell(const struct counters *c, const struct perf_event_counts *counted, bool is_whole,
	struct engine_counts *counts);

#endif
