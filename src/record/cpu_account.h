#ifndef SONDE_RECORD_CPU_ACCOUNT_H
#define SONDE_RECORD_CPU_ACCOUNT_H

/*
 * The CPU time that the system accounts to the target: it controls the weights of samples
 * (weights.h), and at the end shows the total and the part without samples.
 */

#include <stdbool.h>
#include <stdint.h>

#include "record/engines/engine.h"
#include "record/recording.h"
#include "record/target.h"

/* ---- at the end ---- */

struct cpu_account {
	uint64_t cpu_ns;       /* UINT64_MAX: unknown */
	uint64_t kernel_ns;    /* the part of it in the kernel, if that could not be sampled */
	uint64_t lost_ns;      /* the part of it without samples for any other reason */
	uint64_t unreached_ns; /* the part of lost_ns in programs that the engine did not reach */
	/* How many samples the sampled and lost time should have; UINT64_MAX: unknown. */
	uint64_t expected;
};

/*
 * Call it after sampling has stopped.  counts: the engine's.  gave_up: sampling, and with it the
 * engine's clocks, stopped before the target's end.
 */
struct cpu_account cpu_account(const struct recording *recording, const struct target *target,
	const struct engine_counts *counts, bool gave_up);

/* ---- during the recording ---- */

struct account_watch {
	uint64_t accounted_ns, clocked_ns; /* of all processes, at the last check */
	size_t total, living;		   /* processes, at the last check */
	uint32_t first;			   /* thread to read first, so that all get their turn */
};

/*
 * Zero it at first.  Reads the system's accounts from time to time, so that the samples' weights
 * follow them.
 */
void account_watch_look(struct account_watch *w, struct recording *recording,
	const struct target *target, const struct engine_counts *counts);

/*
 * Sampling has stopped.  If many samples are still in the rings, they get the weight that the
 * account lacks.
 */
void account_watch_end(struct recording *recording, const struct target *target,
	const struct engine_counts *counts);

#endif
