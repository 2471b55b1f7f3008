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
	struct perf_event_counts counts; /* at the last reading */
	uint64_t asked_ns;		 /* when that was */
	uint64_t due_ns;		 /* not to be read before */
	uint64_t lost_records;		 /* lost samples, as the rings report */
	uint64_t passed_over;		 /* samples of other processes, by wide clocks */
};

/*
 * What the events have counted.  Reading them interrupts the target, so if they are many they are
 * read less often than this is called.  Once sampling has stopped it is exact.
 */
struct perf_event_counts perf_tally_counts(struct perf_tally *t);
/*
 * Lost samples of the target so far.  Its part of what wide clocks have lost is assumed to be its
 * part of all samples, rounded up.
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

/* events: opened, with counters or without.  It and the recording must outlive the counters. */
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

/* Call it after each drain: events that have become rare are sampled more often. */
void counters_look(struct counters *c, uint64_t now_ns);
/* Samples at the requested frequencies, halved so many times. */
void counters_slow_down(struct counters *c, uint32_t halvings);
/* Adds what the kernel has counted.  is_whole: of all that is recorded, and of nothing else. */
void counters_tell(const struct counters *c, const struct perf_event_counts *counted, bool is_whole,
	struct engine_counts *counts);

#endif
