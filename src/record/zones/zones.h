#ifndef SONDE_RECORD_ZONES_ZONES_H
#define SONDE_RECORD_ZONES_ZONES_H

/*
 * The zones (prof.h) of recorded programs.  A recording has what the programs measure themselves in
 * addition to samples, and each sample has the zones in which it was taken.
 *
 * Launched programs report themselves to us, and keep rings of events while they are recorded.
 * Running programs are found in /proc.  Their memory is mapped read-only, which does not affect
 * them.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "record/options.h"

struct recording;
struct target;
struct thread;
struct zones;

/* Figures of the recorded zones. */
struct zones_result {
	uint32_t programs;
	uint32_t zones;	    /* distinct ones, without functions */
	uint32_t functions; /* functions that are zones */
	uint64_t ticks, lost_ticks;
	uint64_t unknown;     /* samples and times off the CPU with unknown zones */
	uint64_t lost_events; /* events that should have been stored */
};

/* NULL: with RECORDER_ZONES_NONE.  The recording must have begun, and must outlive the result. */
struct zones *zones_create(struct recording *recording, enum recorder_zones mode);
void zones_destroy(struct zones *z);

/*
 * A variable for a command's environment, "NAME=value"; NULL: none.  Valid as long as z.
 */
const char *zones_variable(const struct zones *z);
/* The command's whole LD_PRELOAD; NULL: unchanged.  Valid as long as z. */
const char *zones_preload(const struct zones *z);
/* ERROR_UNSUPPORTED: the library that makes functions zones is not installed. */
must_use struct error *zones_check_functions(void);
/* Becomes readable when a program reports itself; -1: programs do not report. */
int zones_fd(const struct zones *z);

/* Call it before taking samples: reads the clocks, so that times can be converted. */
void zones_expect_samples(struct zones *z);
/* The node of the thread's zone stack at that time (CLOCK_MONOTONIC); 0: in no zone. */
uint32_t zones_at(struct zones *z, const struct thread *thread, uint64_t time_ns);

/* Call it after taking samples, at least every tenth of a second: writes new rows and ticks. */
void zones_look(struct zones *z, const struct target *target);
/* Called last, after sampling has stopped. */
void zones_end(struct zones *z);

void zones_count(const struct zones *z, uint64_t *counters); /* [CAPTURE_COUNTER_COUNT] */
struct zones_result zones_result(const struct zones *z);

#endif
