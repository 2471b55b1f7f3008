#ifndef SONDE_ZONEREPORT_HISTORY_H
#define SONDE_ZONEREPORT_HISTORY_H

/*
 * The work of zones, frame by frame (ticks of one stream), and averages of it.
 *
 * Its input is ticks: for each active node, the time spent in it but not below it, and its entries.
 * It keeps as many complete ticks as fit into a fixed number of bytes, and drops the oldest first.
 * It also keeps three averages of each node: the last frame only, and exponential ones with 90 % of
 * the weight in the last 0.8 s and 2.5 s, by k = 0.1^(dt/T), where the first three frames set them
 * directly (IProf's rules).  All figures of zones are sums over nodes, and averages of sums are
 * sums of averages, so averaged displays also add up.
 *
 * It has no locks: only its owner uses it. libc only; uses nothing of the region after reading a
 * tick.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/sonde/layout/zonewire.h"
#include "zonereport/namer.h"
#include "zonereport/region.h"

#define ZONE_SLOT_ALL	   UINT32_MAX	     /* for `slot`: all threads together */
#define ZONE_DEPTH_ALL	   UINT32_MAX	     /* for `depth`: a zone at any recursion depth */
#define ZONE_HISTORY_BYTES ((size_t)4 << 20) /* a good size: 1,300 frames of 200 nodes */

enum { ZONE_AVERAGES = 3, ZONE_AVERAGE_DEFAULT = 1 };

/* A zone, as described by its program; strings are the history's, and never NULL. */
struct zone_info {
	const char *name;
	const char *file; /* "": unknown */
	uint32_t line;
	uint64_t code;	    /* for zones that are functions: address; else 0 */
	const char *module; /* path of the load object that contains it; "": unknown */
};

/* A kept tick. */
struct zone_frame {
	uint64_t number; /* in its stream */
	uint64_t start_ticks, end_ticks;
	double ms;
	uint32_t slot;	/* of the thread that ended it */
	uint32_t flags; /* enum zonewire_tick_flag */
	uint32_t delta_count;
	const struct zonewire_delta *delta; /* [delta_count]; valid until the history changes */
};

/* Figures of one zone over the kept frames; frames without activity count as 0. */
struct zone_stats {
	size_t frames;
	double min, max, mean, median, p95; /* ms */
};

enum zone_measure { ZONE_SELF, ZONE_HIER, ZONE_COUNT };

/* Selects a zone, at a recursion depth, in one thread or all. */
struct zone_choice {
	uint32_t zone;
	uint32_t depth; /* ZONE_DEPTH_ALL, or only nodes with this many nodes of the same zone
			   above */
	uint32_t slot;	/* ZONE_SLOT_ALL, or a single slot */
};

struct zone_history;

/*
 * A history of the ticks of one stream (others are skipped), with at most `bytes` of frames.  NULL:
 * out of memory.
 */
struct zone_history *zone_history_create(uint32_t stream, size_t bytes);
void zone_history_destroy(struct zone_history *history);

/*
 * Sets the namer of zones that are functions, for zones learnt from now on.  Its names are
 * preferred to the program's.  Its context must outlive the history.
 */
void zone_history_set_namer(struct zone_history *history, struct zone_namer namer);
/*
 * Reads the region's clock, zones and troubles.  Call it before the first tick, and when the
 * display should be up to date.  False: out of memory; earlier data stays valid.
 */
bool zone_history_learn(struct zone_history *history, const struct zone_region *region);
/*
 * Adds a tick.  reading: one that has all its nodes; only its node_count and place are used.  Does
 * nothing for another stream, or if paused or frozen.  False: out of memory, the tick is left out
 * and counts as lost.
 */
bool zone_history_add(struct zone_history *history, const struct zone_reading *reading,
	const struct zone_tick *tick);
/* Counts bytes of ticks that were overwritten before they could be read. */
void zone_history_lost(struct zone_history *history, uint64_t bytes);
/* Forgets frames and averages, not zones. */
void zone_history_clear(struct zone_history *history);

/* While paused, ticks are skipped, and the display stays. */
void zone_history_pause(struct zone_history *history, bool is_paused);
bool zone_history_is_paused(const struct zone_history *history);
/*
 * Freezes automatically when a frame takes longer than ms: that frame is the last one kept.  ms <=
 * 0: never.  Frozen is like paused, with another cause.
 */
void zone_history_freeze_over(struct zone_history *history, double ms);
void zone_history_set_frozen(struct zone_history *history, bool is_frozen);
bool zone_history_is_frozen(const struct zone_history *history);

/* ---- contents ---- */

uint32_t zone_history_stream(const struct zone_history *history);
/* Ids below this are known; id 0 is not a zone.  Out of range: nameless. */
uint32_t zone_history_zone_count(const struct zone_history *history);
struct zone_info zone_history_zone(const struct zone_history *history, uint32_t id);
uint32_t zone_history_node_count(const struct zone_history *history);
/* The number of frames kept, and ever added. */
size_t zone_history_frame_count(const struct zone_history *history);
uint64_t zone_history_frames_added(const struct zone_history *history);
/* The frame `ago` frames before the last one (0: the last); false: not kept. */
bool zone_history_frame(const struct zone_history *history, size_t ago, struct zone_frame *frame);
/* Mean milliseconds per frame, by that average; 0 before the first frame. */
double zone_history_frame_ms(const struct zone_history *history, unsigned average);
/* Converts clock ticks to milliseconds. */
double zone_history_ms(const struct zone_history *history, uint64_t ticks);

/*
 * Writes the choice's values in the last frames, oldest first, to values[capacity]: ms, or entries.
 * Returns their number; 0 also if out of memory.
 */
size_t zone_history_series(const struct zone_history *history, struct zone_choice choice,
	enum zone_measure measure, float *values, size_t capacity);
/* False: no frames, or out of memory. */
bool zone_history_stats(const struct zone_history *history, struct zone_choice choice,
	enum zone_measure measure, struct zone_stats *stats);
/*
 * For each zone with activity in the last `frames` frames: its self times in ms, oldest first,
 * values[count], where values[count - 1] is the last frame's.  False: out of memory.
 */
bool zone_history_graph(const struct zone_history *history, uint32_t slot, size_t frames,
	void (*callback)(uint32_t zone, const float *values, size_t count, void *data), void *data);

#endif
