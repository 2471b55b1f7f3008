#ifndef SONDE_RECORD_ENGINES_PERF_SHORT_LIVES_H
#define SONDE_RECORD_ENGINES_PERF_SHORT_LIVES_H

/*
 * Threads too short for the clocks of tasks.  Such a clock starts with a whole interval, so of
 * threads shorter than that it sees nothing, and half a sample too little of all others.  Where
 * that makes a difference the CPUs' clocks take over, or, where these are not allowed, a quicker
 * one, of which even short threads see some ticks.
 */

#include <stdbool.h>
#include <stdint.h>

#include "record/engines/perf/perf_event.h"
#include "record/engines/perf/perf_tally.h"

/* Zeroed at first. */
struct short_lives {
	bool widen_refused;
	bool is_quick;	   /* the quick clock runs, in place of wide ones */
	uint64_t old;	   /* threads that were there when sampling began */
	uint64_t threads;  /* so far, at the last look */
	uint32_t calm;	   /* looks since many threads began */
	uint64_t forgiven; /* samples that are missing for another reason */
};

/* Sampling begins, of the threads that are known so far and of those to come. */
void short_lives_begin(struct short_lives *s, const struct perf_tally *tally);
/*
 * How many samples the tasks' clocks should have given so far; 0 where there is nothing to find
 * out.  interval_ns: between samples, as it was asked for.
 */
uint64_t short_lives_due(const struct short_lives *s, const struct perf_event_set *events,
	struct perf_tally *tally, uint64_t interval_ns);
/*
 * The clocks were replaced, and the rings drained: what is missing now, half a sample of each
 * thread, is so for that.
 */
void short_lives_forgive(struct short_lives *s, const struct perf_event_set *events,
	const struct perf_tally *tally, uint64_t interval_ns);
/*
 * To be called every tenth of a second.  due: as it was when the rings were last drained, or
 * what lies in them would be missing; 0 if nothing is to be changed.
 */
void short_lives_watch(struct short_lives *s, struct perf_event_set *events,
	struct perf_tally *tally, uint64_t interval_ns, uint64_t due);

#endif
