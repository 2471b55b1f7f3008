#ifndef SONDE_RECORD_ENGINES_PRELOAD_PRELOAD_WAKE_H
#define SONDE_RECORD_ENGINES_PRELOAD_PRELOAD_WAKE_H

/*
 * The preloaded library together with perf events, used if BPF may not copy the part of a stack
 * that the kernel's own copy lacks.  The library is dormant in the target's processes.  When perf
 * delivers a truncated stack of a process, the threads of that process are woken: each gets its own
 * clock, a perf event of ours that sends it the library's signal at each tick, and writes its whole
 * stack at each tick.  Samples of perf's own clock in such a thread are skipped.
 *
 * Both clocks have the same rate, so a sample of the library has the same weight as one of perf's.
 * The two are compared for each thread: if the library's samples do not come, as in a thread that
 * has blocked all signals itself, perf's samples are used again.
 *
 * 	preload_wake_open(…)				the memory; then the target is started
 * 	preload_wake_begin(w, recording, …)		before the first record
 * 	preload_wake_collect(w)				finds what the library has written, then
 * 	preload_wake_take_until(w, time_ns)		takes those samples, in order with perf's
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "record/engines/engine.h"
#include "record/engines/preload/preload_memory.h"
#include "record/events/perf_record.h"
#include "record/recording.h"

struct preload_wake;

/* Called for each sample of the library that was taken. */
typedef void preload_wake_took(void *context, struct snapshot_place place,
	const struct perf_sample *sample, uint64_t took_ns);

must_use struct error *preload_wake_open(uint64_t interval_ns, struct preload_wake **wake);
/* For preload_variables_init. */
const struct preload_memory *preload_wake_memory(const struct preload_wake *w);
void preload_wake_begin(struct preload_wake *w, struct recording *recording,
	preload_wake_took *took, void *context);
/* NULL is allowed. */
void preload_wake_close(struct preload_wake *w);

/* Finds the records written up to now, unless earlier records still wait to be taken. */
void preload_wake_collect(struct preload_wake *w);
/* Takes records up to time_ns; UINT64_MAX: all that were collected. */
void preload_wake_take_until(struct preload_wake *w, uint64_t time_ns);

/* Whether a sample of the library replaces this sample of perf's clock. */
bool preload_wake_replaces(struct preload_wake *w, const struct perf_sample *sample);
/* A stack of that process was truncated: wakes its threads, if they have the library. */
void preload_wake_cut(struct preload_wake *w, int64_t pid);
/* How long the next collection may wait; UINT64_MAX: no threads write. */
uint64_t preload_wake_wait_ns(const struct preload_wake *w);

/* Sets the time between ticks. */
void preload_wake_set_interval(struct preload_wake *w, uint64_t interval_ns);
/* Forgets threads that have ended. */
void preload_wake_sweep(struct preload_wake *w);
/* Stops the clocks. */
void preload_wake_stop(struct preload_wake *w);
/*
 * Adds the number of invalid records.  Samples without room are not lost: perf's are used instead.
 */
void preload_wake_tell(const struct preload_wake *w, struct engine_counts *counts);

#endif
