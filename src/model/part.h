#ifndef SONDE_MODEL_PART_H
#define SONDE_MODEL_PART_H

#include "model/profile.h"

/*
 * A profile of some of another's samples, those with sample_kept[p->samples.count], and of some of
 * its ticks, those with tick_kept[p->tick_count]; NULL: all.  What is known only of the whole is
 * unknown in the part: calls, zone events, and the numbers of expected, foreign, critical and
 * guessed samples.  note: a sentence that says which part it is.  The caller owns the result; p
 * stays.  ERROR_UNSUPPORTED if p has totals only, no samples.
 */
must_use struct error *profile_part(const struct profile *p, const bool *sample_kept,
	const bool *tick_kept, const char *note, struct profile **part);

#endif
