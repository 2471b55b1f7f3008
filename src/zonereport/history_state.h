#ifndef SONDE_ZONEREPORT_HISTORY_STATE_H
#define SONDE_ZONEREPORT_HISTORY_STATE_H

/*
 * The struct of a history, which three nouns read: the history fills it (history.c), a report is
 * rows of its nodes (report_work.h), and a series is one choice of nodes over its frames
 * (series.c).
 */

#include "zonereport/frame_ring.h"
#include "zonereport/history.h"

enum {
	EXPONENTIAL = ZONE_AVERAGES - 1, /* averages other than that of the last frame */
	DIRECT_FRAMES = 3,		 /* the first frames, which set averages directly */
};

/*
 * A node, with averages as of the last frame with activity in it or below it.  Later frames are
 * accounted for when it is used, so idle nodes cost nothing.
 */
struct history_node {
	struct zone_place place; /* zone 0: unknown */
	uint32_t same_above;	 /* the nearest node of the same zone above it; 0: none */
	uint32_t recursion;	 /* number of such nodes */
	uint64_t frame;		 /* of the averages, from 1; 0: none */
	double seconds;		 /* the history's seconds at that frame */
	/* In ticks and entries per frame; element n is for average n + 1. */
	double self[EXPONENTIAL], count[EXPONENTIAL];
	double self_square[EXPONENTIAL], hier_square[EXPONENTIAL];
	double hier_now; /* while a tick is added */
};

struct zone_history {
	uint32_t stream;
	struct frame_ring ring;
	struct history_node *node; /* [node_count] */
	uint32_t node_count, node_capacity, node_scanned;
	uint32_t *touched; /* [touched_count]: while adding a tick; room for all nodes */
	uint32_t touched_count;
	struct zone_info *zone; /* [zone_count], strings allocated */
	uint32_t zone_count, zone_capacity;
	struct zone_namer namer;
	/*
	 * A bit for each slot with a thread that has ended a frame of any stream, and their number.
	 */
	struct {
		uint64_t *bits; /* [words] */
		uint32_t words, count;
	} frame_slots;
	double tick_ms;
	uint64_t trouble[ZONEWIRE_TROUBLES];
	uint32_t trouble_open, trouble_ended; /* zones */
	bool end_is_proven;
	uint64_t frames_added, frames_lost, deltas_cut, bytes_lost;
	double seconds; /* sum of all frames added */
	/* The decay for a gap; cached, as it is the same for most nodes. */
	double gap_seconds, gap_left[ZONE_AVERAGES - 1];
	double frame_ms[EXPONENTIAL];
	double freeze_over_ms;
	bool is_paused, is_frozen;
};

/* A node's contribution per frame: ticks, entries, and averages of squared ticks. */
struct node_value {
	double self, count;
	double self_square, hier_square;
};
/* The node's present exponential averages, from number 0. */
struct node_value history_average(
	const struct zone_history *history, const struct history_node *node, unsigned average);
/*
 * Whether all threads are requested, some threads end frames, and the node is the time outside
 * zones of a thread that does not.  slot is the query's.  Such time is in no sum.
 */
bool history_is_frameless(const struct zone_history *history, uint32_t node, uint32_t slot);
/* Whether a node has the choice's zone, depth and slot. */
bool history_chosen(const struct history_node *node, struct zone_choice choice);

#endif
