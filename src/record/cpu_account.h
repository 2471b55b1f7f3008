#ifndef SONDE_RECORD_CPU_ACCOUNT_H
#define SONDE_RECORD_CPU_ACCOUNT_H

/*
 * How much CPU time the target of a recording has used by the system's account, and what of it is
 * in no sample.
 */

#include <stdbool.h>
#include <stdint.h>

#include "record/engines/engine.h"
#include "record/recording.h"
#include "record/target.h"

struct cpu_account {
	uint64_t cpu_ns;       /* UINT64_MAX: not known */
	uint64_t kernel_ns;    /* the part of it in the kernel, where that could not be sampled */
	uint64_t lost_ns;      /* the part of it that is in no sample for any other reason */
	uint64_t unreached_ns; /* the part of that of programs that the engine has not reached */
	/* Samples of what is in samples or lost; UINT64_MAX: not known. */
	uint64_t expected;
};

/*
 * Sampling has stopped.  counts: the engine's; gave_up: sampling stopped before the target's end,
 * and with it the engine's clocks.
 */
struct cpu_account cpu_account(const struct recording *recording, const struct target *target,
	const struct engine_counts *counts, bool gave_up);

/*
 * cpu_ns of that alone.  If counts has the clocks of all, it does not depend on which samples have
 * been taken so far.
 */
uint64_t cpu_account_used_ns(const struct recording *recording, const struct target *target,
	const struct engine_counts *counts, bool gave_up);

#endif
