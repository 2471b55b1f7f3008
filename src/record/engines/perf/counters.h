#ifndef SONDE_RECORD_ENGINES_PERF_COUNTERS_H
#define SONDE_RECORD_ENGINES_PERF_COUNTERS_H

/*
 * The counts of perf events: the target's CPU time and lost samples, and the events recorded in
 * addition to time.
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
	uint64_t due_ns;		 /* do not read before this time */
	uint64_t lost_records;		 /* lost samples reported by the rings */
	uint64_t passed_over;		 /* skipped samples of other processes, by wide clocks */
};

/*
 * The events' counts.  Reading them interrupts the target, so if they are many, they are read less
 * often than this is called.  Exact after sampling has stopped.
 */
struct perf_event_counts perf_tally_counts(struct perf_tally *t);
/*
 * The target's lost samples so far.  Its share of the losses of wide clocks is assumed to equal its
 * share of all samples, rounded up.
 */
uint64_t perf_tally_lost(struct perf_tally *t);

/* ---- other events ---- */

/* The weights of their samples, their sampling rates, and the kernel's counts. */

struct counters {
	struct perf_event_set *events;
	struct recording *recording;
	struct counter_pace paces[CAPTURE_METRIC_MAX];
};

/* events: opened, with counters or without.  It and the recording must outlive the counters. */
void counters_init(struct counters *c, struct perf_event_set *events, struct recording *recording);

/* A sample of an event other than time. */
struct counted_sample {
	struct perf_sample sample;
	const struct perf_gear *gear;
};
/* Decodes a record of a ring of counters.  False: malformed. */
bool counters_read(const struct counters *c, const struct perf_event_header *header,
	const struct perf_source *source, struct counted_sample *counted);
/* Walks and writes the sample. */
void counters_take(struct counters *c, const struct counted_sample *counted);

/* Call it after each drain: events that have become rare are sampled more often. */
void counters_look(struct counters *c, uint64_t now_ns);
/* Sets the requested frequencies, halved this many times. */
void counters_slow_down(struct counters *c, uint32_t halvings);
/* Adds the kernel's counts.  is_whole: they cover exactly what is recorded. */
void counters_tell(const struct counters *c, const struct perf_event_counts *counted, bool is_whole,
	struct engine_counts *counts);

#endif
