#ifndef SONDE_RECORD_ENGINES_PERF_PERF_ATTACH_H
#define SONDE_RECORD_ENGINES_PERF_PERF_ATTACH_H

/*
 * Opens a set of perf events on running processes: on all their threads and descendants, so that
 * later threads and children inherit them; or, if there are many threads and it is allowed, on all
 * CPUs instead.
 */

#include "record/engines/perf/perf_event.h"
#include "record/engines/perf/ring.h"
#include "record/recording.h"
#include "record/target.h"

struct perf_attach_result {
	uint32_t left_out; /* threads that have no events */
	/*
	 * Some threads may have events twice, inherited and their own.  Of a thread's samples only
	 * those of the highest rank count.
	 */
	bool doubles;
};

/*
 * set is prepared, and merge has its rings.  Adds the processes found, with their threads and
 * mappings, to the recording's table.  Sampling has not begun.  Targets that are gone are ignored;
 * ERROR_UNSUPPORTED if we may not inspect one.
 */
must_use struct error *perf_attach(struct perf_event_set *set, struct ring_merge *merge,
	struct recording *recording, const struct target *target,
	struct perf_attach_result *result);

#endif
