#ifndef SONDE_RECORD_RECORDER_STATE_H
#define SONDE_RECORD_RECORDER_STATE_H

/*
 * The recorder within, for the files that it consists of: recorder.c runs it, recorder_facts.c
 * writes what the file says of the recording as a whole, recorder_result.c sums it up.
 */

#include "record/account_watch.h"
#include "record/budget.h"
#include "record/command_pipe.h"
#include "record/control.h"
#include "record/engines/engine.h"
#include "record/flight.h"
#include "record/launch.h"
#include "record/recorder.h"
#include "record/recording.h"
#include "record/stacks/stack_tree.h"
#include "record/target.h"

struct recorder {
	struct recorder_options options;
	struct launch_state launch_state;
	struct control control;
	struct command_pipe commands;
	bool commanded_stop;
	struct capture_writer *writer;
	struct target target;
	struct recording recording;
	struct engine *engine;
	pollfd_vec polled;		 /* the signals, then the engine's */
	uint64_t progress_ns, target_ns; /* when to do these next */
	uint64_t progress_step_ns;
	uint64_t alive_ns; /* the target went on then */
	uint64_t end_ns;   /* when sampling stopped */
	struct budget budget;
	struct account_watch account_watch;
	uint32_t rate_changes;
	struct flight flight;
	bool stopped;			  /* the file can't be written: no more samples */
	const uint8_t *fates;		  /* by node, the writer's; NULL: all are kept */
	struct stack_addresses addresses; /* once asked for */
};

/* Writes what is known once the target runs: what it is, where, when, and how it is sampled. */
void recorder_write_facts(struct recorder *r);
/* Takes the samples that are there, and has what is due written. */
void recorder_drain(struct recorder *r);
/* Writes what was lost, estimated and counted so far; the last ones hold. */
void recorder_write_counters(struct recorder *r);
/* Writes what is known once it is over. */
void recorder_write_end(struct recorder *r, const struct recorder_result *result);

/* What there was of an event beside time, without pauses; UINT64_MAX: not known. */
uint64_t recorder_events(
	const struct recorder *r, const struct engine_counts *counts, size_t counter);
/* Totals so far, for the budget. */
struct budget_use recorder_use(const struct recorder *r);
/*
 * Ends the file, but for names: what waits in it, what is in no sample, and what is known once it
 * is over.  result: of recorder_sum_up; becomes that of what is kept.
 */
void recorder_settle(struct recorder *r, struct recorder_result *result);
/* What has come of it until r->end_ns. */
void recorder_sum_up(const struct recorder *r, struct recorder_result *result);

#endif
