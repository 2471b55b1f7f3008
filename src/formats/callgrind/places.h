#ifndef SONDE_FORMATS_CALLGRIND_PLACES_H
#define SONDE_FORMATS_CALLGRIND_PLACES_H

/*
 * Where costs of a callgrind file go: places, which are stacks of one frame, and arcs.  A line of
 * few bytes may make a new one of either, with a weight in each metric, so how many there may be is
 * bounded by the size of the file; what is beyond is summed on functions, and counted.
 */

#include "model/builder.h"

struct callgrind_places {
	struct builder *builder;
	size_t row_cost;		/* bytes that a place or an arc takes */
	size_t room;			/* bytes that new ones may still take */
	uint32_t place_count, arc_most; /* one more than the highest numbers so far */
	uint64_t folded;		/* lines whose place is not kept, */
	uint64_t dropped;		/* and calls that are not */
};

void callgrind_places_init(
	struct callgrind_places *p, struct builder *b, size_t metric_count, size_t room);
/* For callgrind_places_add: takes room for a new place; adds where there is none any more. */
void callgrind_places_count(struct callgrind_places *p, frame_id place);
void callgrind_places_fold(
	struct callgrind_places *p, const struct frame *place, const int64_t *weight);
/* weight[metric_count], spent at that place itself. */
static inline void callgrind_places_add(
	struct callgrind_places *p, const struct frame *place, const int64_t *weight)
{
	if (unlikely(p->room == 0)) {
		callgrind_places_fold(p, place, weight);
		return;
	}
	frame_id frame = builder_place(p->builder, place, weight);
	/* A number that is beyond all others is new. */
	if (unlikely(frame.i >= p->place_count))
		callgrind_places_count(p, frame);
}
/* cost[metric_count], spent from call to return. */
void callgrind_places_call(struct callgrind_places *p, function_id caller, function_id callee,
	uint64_t calls, const int64_t *cost);

#endif
