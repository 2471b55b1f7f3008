#ifndef SONDE_FORMATS_SONDE_CAPTURE_TIME_H
#define SONDE_FORMATS_SONDE_CAPTURE_TIME_H

/*
 * What is to be said of a recording's time: how much of it is in no sample, and how much at stacks
 * that are not its own.
 */

#include <stdbool.h>
#include <stdint.h>

#include "model/builder.h"

struct capture_time {
	const uint64_t *counters; /* [CAPTURE_COUNTER_COUNT] of the file */
	uint64_t cpu_ns;	  /* that could be sampled; UINT64_MAX: not known */
	uint64_t interval_ns;	  /* as asked for; UINT64_MAX: not known */
	uint64_t sampled_ns;	  /* sum of cpu-time of samples */
	bool has_rows;		  /* what is in no sample has rows of its own */
	uint64_t off_cpu_ns;	  /* blocked, woken and preempted */
	uint64_t cut_ns;	  /* the part of it that is under [truncated] */
};

/* Makes notes of what is worth saying: a hundredth of what there is, or more. */
void capture_time_note(const struct capture_time *time, struct builder *builder);

#endif
