#ifndef SONDE_RECORD_ENGINE_PERF_STATE_H
#define SONDE_RECORD_ENGINE_PERF_STATE_H

/*
 * The snapshot and exact engines within: engine_perf.c opens and watches the events,
 * engine_perf_drain.c takes what they leave in the rings.
 */

#include "record/clock_choice.h"
#include "record/counters.h"
#include "record/drain_pace.h"
#include "record/engine.h"
#include "record/exact.h"
#include "record/keeper.h"
#include "record/perf_attach.h"
#include "record/perf_event.h"
#include "record/perf_tally.h"
#include "record/ring.h"
#include "record/short_lives.h"
#include "record/switches.h"

struct engine_perf {
	struct engine engine;
	struct recording *recording;
	const struct recorder_options *options;
	struct perf_event_set events;
	struct keeper *keeper; /* NULL: the recorder has to look at the rings in time itself */
	struct perf_tally tally;
	struct exact *exact; /* NULL: the snapshot engine */
	struct perf_attach_result attached;
	bool everybody; /* is the target */
	struct ring_merge merge;
	struct clock_choice choice;
	struct budget_price price;
	uint64_t stolen_ns;
	uint32_t halvings;
	struct switches switches;
	struct counters counters;
	struct drain_pace pace;
	struct short_lives lives;
	uint64_t hung_up_ns; /* when the events were first seen hung up; 0: they are not */
	bool rate_changed;
};

/* Takes all records that were written up to now, in the order of their times. */
void engine_perf_drain(struct engine_perf *e);

#endif
