#ifndef SONDE_RECORD_KEEPER_H
#define SONDE_RECORD_KEEPER_H

/*
 * The thread that keeps room in the kernel's rings: it moves records to the backlog whenever a ring
 * has filled up by a part, and at short intervals besides, whatever the recorder is busy with.  It
 * does nothing that could wait for long: no file, no other process, no lock held across a system
 * call.
 */

#include "record/perf_event.h"

struct keeper;

/* Watches the rings of set, which must outlive it.  NULL: no thread can be started. */
struct keeper *keeper_create(struct perf_event_set *set);
/* NULL is fine. */
void keeper_destroy(struct keeper *k);

#endif
