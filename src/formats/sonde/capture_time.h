#ifndef SONDE_FORMATS_SONDE_CAPTURE_TIME_H
#define SONDE_FORMATS_SONDE_CAPTURE_TIME_H

/*
 * Notes about a recording's time: how much of it has no samples, and how much has estimated stacks.
 */

#include <stdbool.h>
#include <stdint.h>

#include "model/builder.h"

struct capture_time {
	const uint64_t *counters; /* [CAPTURE_COUNTER_COUNT] of the file */
	uint64_t cpu_ns;	  /* CPU time that could be sampled; UINT64_MAX: unknown */
	uint64_t interval_ns;	  /* as requested; UINT64_MAX: unknown */
	uint64_t sampled_ns;	  /* sum of the samples' cpu-time */
	bool has_rows;		  /* time without samples has its own rows */
	uint64_t off_cpu_ns;	  /* blocked, woken and preempted */
	uint64_t cut_ns;	  /* the part of it under [truncated] */
};

/* Adds notes for shares of at least a hundredth. */
void capture_time_note(const struct capture_time *time, struct builder *builder);

#endif
