/*
 * Places and arcs of callgrind files, no more of them than the file's size allows for.
 */
#include "formats/callgrind/places.h"

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

void callgrind_places_count(struct callgrind_places *p, frame_id place)
{
	p->place_count = place.i + 1;
	charge(p);
}

void callgrind_places_fold(
	struct callgrind_places *p, const struct frame *place, const int64_t *weight)
{
	struct frame whole = {.function = place->function};

	p->folded += place->line != 0 || place->obj_addr != 0;
	frame_id frame = builder_place(p->builder, &whole, weight);
	if (frame.i >= p->place_count)
		callgrind_places_count(p, frame);
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
