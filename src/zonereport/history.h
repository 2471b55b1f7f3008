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
#define ZONE_DEPTH_ALL	   UINT32_MAX	     /* for `depth`: a zone whatever its recursion */
#define ZONE_HISTORY_BYTES ((size_t)4 << 20) /* a good bound: 1,300 frames of 200 nodes */

enum { ZONE_AVERAGES = 3, ZONE_AVERAGE_DEFAULT = 1 };

/* A zone as its program told it; strings are the history's, and never NULL. */
struct zone_info {
	const char *name;
	const char *file; /* "": not known */
	uint32_t line;
	uint64_t code;	    /* address, of zones that are functions; else 0 */
	const char *module; /* path of the load object that has them; "": not known */
};

/* One tick as it is kept. */
struct zone_frame {
	uint64_t number; /* in its stream */
	uint64_t start_ticks, end_ticks;
	double ms;
	uint32_t slot;	/* whose thread ended it */
	uint32_t flags; /* enum zonewire_tick_flag */
	uint32_t delta_count;
	const struct zonewire_delta *delta; /* [delta_count]; good until the history is fed again */
};

/* Of one zone over the kept frames; those in which it did nothing count as 0. */
struct zone_stats {
	size_t frames;
	double min, max, mean, median, p95; /* ms */
};

enum zone_measure { ZONE_SELF, ZONE_HIER, ZONE_COUNT };

/* What is shown of whom: a zone, a recursion depth of it, in one thread or all. */
struct zone_choice {
	uint32_t zone;
	uint32_t depth; /* ZONE_DEPTH_ALL, or just the zone's nodes with so many of it above */
	uint32_t slot;	/* ZONE_SLOT_ALL, or that one */
};

struct zone_history;

/*
 * A history of the ticks of that stream (others are passed over), of at most so many bytes of
 * frames.  NULL: no memory.
 */
struct zone_history *zone_history_create(uint32_t stream, size_t bytes);
void zone_history_destroy(struct zone_history *history);

/*
 * Who names zones that are functions, from the next learning on; what it knows is thought better
 * than what the program says.  Its context must last as long.
 */
void zone_history_set_namer(struct zone_history *history, struct zone_namer namer);
/*
 * Learns what the region tells of its clock, zones and troubles.  Before the first tick, and when
 * what is shown should be up to date.  False: no memory; what was known is still good.
 */
bool zone_history_learn(struct zone_history *history, const struct zone_region *region);
/*
 * Adds a tick.  reading: one that knows all nodes of it; just node_count and place of it are used.
 * Of another stream, paused or frozen: nothing is done.  False: no memory, the tick is left out and
 * counted as lost.
 */
bool zone_history_add(struct zone_history *history, const struct zone_reading *reading,
	const struct zone_tick *tick);
/* Says that so many bytes of ticks were overwritten before they could be read. */
void zone_history_lost(struct zone_history *history, uint64_t bytes);
/* Forgets frames and averages, not zones. */
void zone_history_clear(struct zone_history *history);

/* Paused: ticks are passed over, what is shown stays. */
void zone_history_pause(struct zone_history *history, bool is_paused);
bool zone_history_is_paused(const struct zone_history *history);
/*
 * Freezes by itself when a frame takes longer than that: the frame is the last one that is kept.
 * ms <= 0: never.  Frozen is paused, but for its reason.
 */
void zone_history_freeze_over(struct zone_history *history, double ms);
void zone_history_set_frozen(struct zone_history *history, bool is_frozen);
bool zone_history_is_frozen(const struct zone_history *history);

/* ---- what is known ---- */

uint32_t zone_history_stream(const struct zone_history *history);
/* Ids below this are known; id 0 is no zone.  Out of range: nameless. */
uint32_t zone_history_zone_count(const struct zone_history *history);
struct zone_info zone_history_zone(const struct zone_history *history, uint32_t id);
uint32_t zone_history_node_count(const struct zone_history *history);
/* Frames that are kept, and that were ever added. */
size_t zone_history_frame_count(const struct zone_history *history);
uint64_t zone_history_frames_added(const struct zone_history *history);
/* The frame so many before the last one (0: the last); false: not kept. */
bool zone_history_frame(const struct zone_history *history, size_t ago, struct zone_frame *frame);
/* Mean milliseconds per frame of that average; 0 before the first. */
double zone_history_frame_ms(const struct zone_history *history, unsigned average);
/* Milliseconds that so many ticks of the clock are. */
double zone_history_ms(const struct zone_history *history, uint64_t ticks);

/*
 * The choice's values of the last frames, oldest first, into values[capacity]: ms, or entries.
 * How many there are; 0 also if there is no memory.
 */
size_t zone_history_series(const struct zone_history *history, struct zone_choice choice,
	enum zone_measure measure, float *values, size_t capacity);
/* False: no frames, or no memory. */
bool zone_history_stats(const struct zone_history *history, struct zone_choice choice,
	enum zone_measure measure, struct zone_stats *stats);
/*
 * For each zone that did anything in the last `frames` frames: its self times in ms, oldest first,
 * values[count], where values[count - 1] is the last frame's.  False: no memory.
 */
bool zone_history_graph(const struct zone_history *history, uint32_t slot, size_t frames,
	void (*callback)(uint32_t zone, const float *values, size_t count, void *data), void *data);

#endif
