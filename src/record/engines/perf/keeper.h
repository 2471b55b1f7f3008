#ifndef SONDE_RECORD_ENGINES_PERF_KEEPER_H
#define SONDE_RECORD_ENGINES_PERF_KEEPER_H

/*
 * The thread that keeps room in the kernel's rings, whatever the recorder is busy with: it moves
 * records to the backlog whenever a ring is partly full, and at short intervals; and it ends the
 * sampling in time.  It does nothing that could wait for long: it opens no file and reads no other
 * process.
 */

#include "record/engines/perf/perf_event.h"

struct keeper;

/* Watches the rings of set, which must outlive it.  NULL: no thread could be started. */
struct keeper *keeper_create(struct perf_event_set *set);
/* Stops sampling at that time, by clock_monotonic_ns. */
void keeper_stop_at(struct keeper *k, uint64_t time_ns);
/* From now on also makes room for what the program copies. */
void keeper_serve(struct keeper *k, struct exact *exact);
/* NULL is fine. */
void keeper_destroy(struct keeper *k);

#endif
