#ifndef SONDE_ANALYSIS_LANE_GROUPS_H
#define SONDE_ANALYSIS_LANE_GROUPS_H

/* The lanes of each process's threads, summed. */

#include "analysis/lanes.h"

struct lane_group {
	size_t first, count; /* lanes->lanes[first … first + count - 1] */
	struct lane sum;     /* of these; its thread is the first one's */
	int64_t peak;	     /* the largest sum of a slice, without blocked time */
};

struct lane_groups {
	const struct lane_group *groups; /* in the order of the lanes */
	size_t count;
};

/*
 * Lanes of a profile that does not know threads are a group each.  The profile is the lanes' own.
 * Lives in the arena.
 */
must_use struct lane_groups *lane_groups_analyse(
	const struct lanes *lanes, const struct profile *profile, struct arena *arena);

#endif
