#ifndef SONDE_ANALYSIS_TIME_SLICES_H
#define SONDE_ANALYSIS_TIME_SLICES_H

/*
 * Weights by slices of time.  A sample counts at its time; time off the CPU begins at its sample's
 * time and is spread over its duration: each slice gets the difference of two shares, rounded
 * down, up to the slice's end and up to its beginning.  So the parts sum to the whole weight.
 */

#include "model/profile.h"

struct time_slices {
	uint64_t begin_ns; /* of the first slice, since the recording's start */
	uint64_t slice_ns;
	uint32_t count;
};

/* The columns that say how long a sample lasted. */
struct time_lasting {
	const struct samples *samples;
	const int64_t *cpu, *real; /* [sample]; NULL: the profile has no such metric */
};

struct time_lasting time_lasting_of(const struct profile *profile);
/* How long a sample lasted off the CPU, at most until the end of time; 0: it is a moment. */
uint64_t time_lasting_ns(const struct time_lasting *lasting, size_t sample);

/*
 * Adds a sample's weight to weights[slices->count].  Parts before and after the slices are left
 * out.
 */
void time_slices_add(const struct time_slices *slices, int64_t *weights, uint64_t time_ns,
	uint64_t lasts_ns, int64_t weight);

#endif
