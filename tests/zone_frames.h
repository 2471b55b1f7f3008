#ifndef SONDE_TESTS_ZONE_FRAMES_H
#define SONDE_TESTS_ZONE_FRAMES_H

/* A history that is fed from a memory of zones made by hand, as a program's or a reader's is. */

#include "zone_region.h"
#include "zonereport/difference.h"
#include "zonereport/history.h"

struct zone_frames {
	struct zone_reader *reader;
	struct zone_difference *difference;
	struct zone_history *history;
	uint32_t ends_frames; /* the slot whose thread does; ZONEWIRE_SLOT_NOBODY at first */
};

/* Frames begin at the maker's start.  What may not fail aborts. */
void zone_frames_init(struct zone_frames *f, const struct zone_maker *m, size_t bytes);
void zone_frames_deinit(struct zone_frames *f);
/* Ends a frame; or lets what was done since the last one be in none. */
void zone_frames_end(struct zone_frames *f, const struct zone_maker *m);
void zone_frames_skip(struct zone_frames *f, const struct zone_maker *m);

#endif
