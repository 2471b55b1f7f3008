#ifndef SONDE_RECORD_ENGINES_PERF_COUNTERS_H
#define SONDE_RECORD_ENGINES_PERF_COUNTERS_H

/*
 * The events beside time while they are recorded: what their samples weigh, how often they are
 * taken, and what the kernel has counted.
 */

#include <linux/perf_event.h>

#include "record/events/counter_pace.h"
#include "record/engines/engine.h"
#include "record/engines/perf/perf_event.h"
#include "record/recording.h"

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
