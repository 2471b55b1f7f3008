#ifndef SONDE_ZONEREPORT_FRAMES_H
#define SONDE_ZONEREPORT_FRAMES_H

/* The lengths of the last frames that a history keeps. */

#include <stdbool.h>
#include <stddef.h>

#include "zonereport/history.h"

/*
 * Of the last `frames` kept frames that were not begun before a gap (a pause is no long frame).
 * False: there are none, or no memory.
 */
bool zone_frames_stats(const struct zone_history *history, size_t frames, struct zone_stats *stats);
/* Which of the last `frames` took longest: so many before the last one.  False: there is none. */
bool zone_frames_slowest(const struct zone_history *history, size_t frames, size_t *ago);

#endif
