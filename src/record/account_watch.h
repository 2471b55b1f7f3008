#ifndef SONDE_RECORD_ACCOUNT_WATCH_H
#define SONDE_RECORD_ACCOUNT_WATCH_H

/*
 * Asks the system, every now and then, what CPU time it accounts to those who are sampled, so that
 * samples weigh that (weights.h).
 */

#include "record/engines/engine.h"
#include "record/recording.h"
#include "record/target.h"

struct account_watch {
	uint64_t accounted_ns, clocked_ns; /* of all processes, at the last look */
	size_t total, living;		   /* processes, likewise */
	uint32_t first; /* thread to be asked first, so that all have their turn */
};

/* Zeroed at first. */
void account_watch_look(struct account_watch *w, struct recording *recording,
	const struct target *target, const struct engine_counts *counts);

/* Sampling has stopped: if many samples are still to be taken, they weigh what the account lacks.
 */
void account_watch_end(struct recording *recording, const struct target *target,
	const struct engine_counts *counts);

#endif
