#ifndef SONDE_RECORD_ENGINES_PRELOAD_PRELOAD_WAKE_H
#define SONDE_RECORD_ENGINES_PRELOAD_PRELOAD_WAKE_H

/*
 * The preloaded library beside perf events, where no BPF program may copy what the kernel's own
 * copy of a stack lacks.  The library lies dormant in the target's processes.  Once perf brings a
 * stack of a process that is cut, the threads of that process are woken: each gets a clock of its
 * own, a perf event of ours whose ticks send it the library's signal, and from then on it writes
 * its whole stack down at each tick.  What perf's own clock samples of it is passed over.
 *
 * Both clocks tick alike, so a sample of the library weighs what one of perf's does.  They are held
 * against each other for each thread: where the library's do not come, as in a thread that has
 * blocked all signals by itself, perf's samples are taken again.
 *
 *	preload_wake_open(…)				the memory; then the target is started
 *	preload_wake_begin(w, recording, …)		before the first record
 *	preload_wake_collect(w)				what the library has written by now, then
 *	preload_wake_take_until(w, time_ns)		those samples, in their order among perf's
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
/* NULL is fine. */
void preload_wake_close(struct preload_wake *w);

/* What was written up to now is there to be taken, unless some of what was before still is. */
void preload_wake_collect(struct preload_wake *w);
/* Takes what was written until then; UINT64_MAX: all that was collected. */
void preload_wake_take_until(struct preload_wake *w, uint64_t time_ns);

/* A sample of perf's clock: whether one of the library's is there in its place. */
bool preload_wake_replaces(struct preload_wake *w, const struct perf_sample *sample);
/* A stack of that process was cut: its threads are woken, if the library is there. */
void preload_wake_cut(struct preload_wake *w, int64_t pid);
/* How long it may be until the next look at what was written; UINT64_MAX: nobody writes. */
uint64_t preload_wake_wait_ns(const struct preload_wake *w);

/* Ticks are to be so far apart from now on. */
void preload_wake_set_interval(struct preload_wake *w, uint64_t interval_ns);
/* Forgets threads that are gone. */
void preload_wake_sweep(struct preload_wake *w);
/* No more ticks. */
void preload_wake_stop(struct preload_wake *w);
/* Adds records that were none.  Samples that found no room are perf's again, and not lost. */
void preload_wake_tell(const struct preload_wake *w, struct engine_counts *counts);

#endif
