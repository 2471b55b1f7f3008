#ifndef SONDE_RECORD_ENGINES_PERF_DRAIN_PACE_H
#define SONDE_RECORD_ENGINES_PERF_DRAIN_PACE_H

/*
 * How long the rings may be left alone: a stack that is not whole in its sample has to be read from
 * the process before it changes.
 */

#include <stdbool.h>
#include <stdint.h>

/* Zeroed at first. */
struct drain_pace {
	uint64_t sampled_ns;	/* when the last sample was taken */
	int64_t sampled_tid;	/* of whom */
	bool takes_turns;	/* the sample before was another thread's */
	uint64_t deep_until_ns; /* a stack was deeper than its dump, so look often until then */
	uint64_t reads;		/* of the live process, at the last look */
};

/* A sample of the clock was taken. */
void drain_pace_sampled(struct drain_pace *p, uint64_t time_ns, int64_t tid);
/*
 * How long to sleep.  interval_ns: between samples, as they are taken now; reads: of the memory of
 * processes, so far; is_waiting: for threads off the CPU whose stacks are to be read from outside.
 */
uint64_t drain_pace_wait_ns(struct drain_pace *p, uint64_t now_ns, uint64_t interval_ns,
	uint64_t reads, bool is_waiting);

#endif
