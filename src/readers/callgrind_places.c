/*
 * Places and arcs of callgrind files, no more of them than the file's size allows for.
 */
#include "readers/callgrind_places.h"

/* Frame, stack and what finds them, while their tables grow; and each weight. */
#define ROW_COST    128
#define WEIGHT_COST 24

void callgrind_places_init(
	struct callgrind_places *p, struct builder *b, size_t metric_count, size_t room)
{
	*p = (struct callgrind_places){
		.builder = b, .row_cost = ROW_COST + metric_count * WEIGHT_COST, .room = room};
}

static void charge(struct callgrind_places *p)
{
	p->room = p->room > p->row_cost ? p->room - p->row_cost : 0;
}

void callgrind_places_add(
	struct callgrind_places *p, const struct frame *place, const int64_t *weight)
{
	struct frame whole = {.function = place->function};

	if (unlikely(p->room == 0)) {
		p->folded += place->line != 0 || place->obj_addr != 0;
		place = &whole;
	}
	frame_id frame = builder_place(p->builder, place, weight);
	/* A number that is beyond all others is new. */
	if (frame.i < p->place_count)
		return;
	p->place_count = frame.i + 1;
	charge(p);
}

void callgrind_places_call(struct callgrind_places *p, function_id caller, function_id callee,
	uint64_t calls, const int64_t *cost)
{
	if (p->room == 0) {
		p->dropped++;
		return;
	}
	uint32_t arc = builder_arc_cost(p->builder, caller, callee, calls, cost);
	if (arc < p->arc_most)
		return;
	p->arc_most = arc + 1;
	charge(p);
}
