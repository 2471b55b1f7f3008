#ifndef SONDE_RECORD_ZONES_ZONES_H
#define SONDE_RECORD_ZONES_ZONES_H

/*
 * The zones (prof.h) of the programs that are recorded: beside the samples a recording has what
 * they measure themselves, and each sample knows the zones that it was taken in.
 *
 * Programs that are launched tell us of themselves and keep rings of events while
 * they are recorded; those that run already are looked for in /proc.  Their memory is mapped for
 * reading, and they take no notice.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "record/options.h"

struct recording;
struct target;
struct thread;
struct zones;

/* What came of it. */
struct zones_result {
	uint32_t programs;
	uint32_t zones;	    /* distinct ones, functions left out */
	uint32_t functions; /* that are zones */
	uint64_t ticks, lost_ticks;
	uint64_t unknown;     /* samples, and times off the CPU, whose zone is not known */
	uint64_t lost_events; /* that were to be stored */
};

/* NULL: with RECORDER_ZONES_NONE.  The recording's to end; it has begun. */
struct zones *zones_create(struct recording *recording, enum recorder_zones mode);
void zones_destroy(struct zones *z);

/*
 * What a command is to have in its environment, "NAME=value"; NULL: nothing.  Good as long as z.
 */
const char *zones_variable(const struct zones *z);
/* What it is to preload, all of it; NULL: as it would.  The same. */
const char *zones_preload(const struct zones *z);
/* ERROR_UNSUPPORTED: there is no library that makes functions zones. */
must_use struct error *zones_check_functions(void);
/* Becomes readable when a program tells of itself; -1: none will. */
int zones_fd(const struct zones *z);

/* Samples that are older than now are going to be taken. */
void zones_expect_samples(struct zones *z);
/* The node of the zone stack the thread was at, at that time (CLOCK_MONOTONIC); 0: in none. */
uint32_t zones_at(struct zones *z, const struct thread *thread, uint64_t time_ns);

/* After samples were taken, at least each tenth of a second: writes what has come. */
void zones_look(struct zones *z, const struct target *target);
/* The last look; sampling has stopped. */
void zones_end(struct zones *z);

void zones_count(const struct zones *z, uint64_t *counters); /* [CAPTURE_COUNTER_COUNT] */
struct zones_result zones_result(const struct zones *z);

#endif
