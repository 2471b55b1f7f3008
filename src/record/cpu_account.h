#ifndef SONDE_RECORD_CPU_ACCOUNT_H
#define SONDE_RECORD_CPU_ACCOUNT_H

/*
 * The CPU time that the system accounts to the target: what samples are to weigh while they are
 * taken (weights.h), how much it is in the end, and how much of it is in no sample.
 */

#include <stdbool.h>
#include <stdint.h>

#include "record/engines/engine.h"
#include "record/recording.h"
#include "record/target.h"

/* ---- in the end ---- */

struct cpu_account {
	uint64_t cpu_ns;       /* UINT64_MAX: unknown */
	uint64_t kernel_ns;    /* the part of it in the kernel, where that could not be sampled */
	uint64_t lost_ns;      /* the part of it in no sample for any other reason */
	uint64_t unreached_ns; /* the part of lost_ns in programs that the engine did not reach */
	/* How many samples the sampled and lost time should have; UINT64_MAX: unknown. */
	uint64_t expected;
};

/*
 * Call it once sampling has stopped.  counts: the engine's.  gave_up: sampling, and with it the
 * engine's clocks, stopped before the target's end.
 */
struct cpu_account cpu_account(const struct recording *recording, const struct target *target,
	const struct engine_counts *counts, bool gave_up);

/* ---- meanwhile ---- */

struct account_watch {
	uint64_t accounted_ns, clocked_ns; /* of all processes, at the last look */
	size_t total, living;		   /* processes, likewise */
	uint32_t first;			   /* thread to ask first, so that all have their turn */
};

/*
 * Zeroed at first.  Reads the system's accounts, now and then, so that samples weigh what these
 * say.
 */
void account_watch_look(struct account_watch *w, struct recording *recording,
	const struct target *target, const struct engine_counts *counts);

/*
 * Sampling has stopped.  If many samples are still in the rings, they weigh what the account lacks.
 */
void account_watch_end(struct recording *recording, const struct target *target,
	const struct engine_counts *counts);

#endif
