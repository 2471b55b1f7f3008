#ifndef SONDE_RECORD_ENGINES_PERF_ENGINE_PERF_STATE_H
#define SONDE_RECORD_ENGINES_PERF_ENGINE_PERF_STATE_H

/*
 * The snapshot and exact engines within: engine_perf.c opens and watches the events,
 * engine_perf_drain.c takes what they leave in the rings, engine_perf_exact.c brings the BPF
 * program to them.
 */

#include "record/engines/perf/clock_choice.h"
#include "record/engines/perf/counters.h"
#include "record/engines/perf/drain_pace.h"
#include "record/engines/engine.h"
#include "record/engines/exact/exact.h"
#include "record/engines/exact/exact_loader.h"
#include "record/engines/perf/keeper.h"
#include "record/engines/perf/perf_attach.h"
#include "record/engines/perf/perf_event.h"
#include "record/engines/perf/perf_tally.h"
#include "record/engines/preload/preload_wake.h"
#include "record/engines/perf/ring.h"
#include "record/engines/perf/short_lives.h"
#include "record/switches/switches.h"
#include "record/samples/thinning.h"
#include "record/switches/waking.h"

struct engine_perf {
	struct engine engine;
	struct recording *recording;
	const struct recorder_options *options;
	struct perf_event_set events;
	struct keeper *keeper;	   /* NULL: the recorder has to look at the rings in time itself */
	struct preload_wake *wake; /* NULL: the library is not in the target */
	struct perf_tally tally;
	struct exact *exact;	     /* NULL: no program is at the events */
	struct exact_loader *loader; /* NULL: none is loading */
	struct exact *ready;	     /* loaded, and not needed so far */
	int exact_poll_fd;	     /* an epoll: the loader's, then the program's; -1: no such */
	bool is_joining;	     /* threads may have fresh events beside those in the set */
	struct perf_attach_result attached;
	bool everybody; /* is the target */
	struct ring_merge merge;
	struct clock_choice choice;
	struct budget_price price;
	uint64_t stolen_ns;
	uint32_t halvings;
	struct switches switches;
	struct waking_format waking; /* where options->wakers */
	struct wakers wakers;
	struct locks locks; /* where options->locks */
	struct counters counters;
	struct drain_pace pace;
	struct thinning thinning;
	struct short_lives lives;
	uint64_t hung_up_ns; /* when the events were first seen hung up; 0: they are not */
	uint64_t stop_ns;    /* when to stop sampling; 0: when told, or it has stopped */
	uint64_t stopped_ns; /* when it stopped; 0: it has not */
	bool rate_changed;
};

extern const struct engine_ops engine_perf_ops, engine_perf_exact_ops;

/* A sample of the library's was taken. */
preload_wake_took engine_perf_woke;
/*
 * Takes all records that were written up to now, in the order of their times.  Returns early when
 * the time comes to stop, or to join.
 */
void engine_perf_drain(struct engine_perf *e);
/* Before the first drain. */
void engine_perf_watch_threads(struct engine_perf *e);

/*
 * Of user stack in a sample beside the program.  Of the sizes tried, from 512 bytes to 16 KB, this
 * one costs the target least.
 */
#define EXACT_DUMP_BYTES 4096u

/* Waits for the program, for events yet to be opened; without it it says why. */
void engine_perf_exact_open(struct engine_perf *e);
/* Has it loaded beside, if that may come to something. */
void engine_perf_exact_begin(struct engine_perf *e);
/* Whether it is to join: the drain at hand ends at once. */
bool engine_perf_exact_is_due(const struct engine_perf *e);
/* Joins it to the sampling if it is due; to be called after each drain. */
void engine_perf_exact_look(struct engine_perf *e);
/* The events sample others, too, from now on. */
void engine_perf_exact_widened(struct engine_perf *e);
/* Goes on without it; err, which it frees, says why. */
void engine_perf_exact_give_up(struct engine_perf *e, struct error *err);
void engine_perf_exact_close(struct engine_perf *e);

#endif
