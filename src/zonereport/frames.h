#ifndef SONDE_ZONEREPORT_FRAMES_H
#define SONDE_ZONEREPORT_FRAMES_H

/* The lengths of the last frames in a history. */

#include <stdbool.h>
#include <stddef.h>

#include "zonereport/history.h"

/*
 * For the last `frames` kept frames, except those after a gap (a pause is not a long frame).
 * False: there are none, or out of memory.
 */
bool zone_frames_stats(const struct zone_history *history, size_t frames, struct zone_stats *stats);
/*
 * The longest of the last `frames` frames: how many frames before the last one it is.  False: there
 * is none.
 */
bool zone_frames_slowest(const struct zone_history *history, size_t frames, size_t *ago);

#endif
