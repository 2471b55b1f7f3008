#ifndef SONDE_RECORD_ENGINES_PERF_KEEPER_H
#define SONDE_RECORD_ENGINES_PERF_KEEPER_H

/*
 * The thread that keeps room in the kernel's rings while the recorder is busy: it moves records to
 * the backlog when a ring is partly full, and at short intervals.  It also stops the sampling on
 * time.  It does nothing that may block for long: it opens no files and reads no other processes.
 */

#include "record/engines/perf/perf_event.h"

struct keeper;

/* Serves the rings of set, which must outlive it.  NULL: no thread could be started. */
struct keeper *keeper_create(struct perf_event_set *set);
/* Stops sampling at that time, by clock_monotonic_ns. */
void keeper_stop_at(struct keeper *k, uint64_t time_ns);
/* Whether the caller waits for samples itself from now on, on their rings, so that it is woken. */
void keeper_leave_samples(struct keeper *k, bool leave);
/* From now on also makes room for the data copied by the program. */
void keeper_serve(struct keeper *k, struct exact *exact);
/* NULL is allowed. */
void keeper_destroy(struct keeper *k);

#endif
