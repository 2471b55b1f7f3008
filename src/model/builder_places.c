/*
 * Places of a profile without stacks: each is a frame, and the stack of it alone.  Stacks are made
 * at the end, and frames mostly without a lookup (place_runs.h).
 */
#include "model/builder.h"

#include <assert.h>

#include "model/builder_state.h"

static void places_begin(struct builder *b)
{
	b->has_weights = b->has_places = b->samples_unknown = true;
	weight_rows_begin(&b->weights, b->metrics.count);
}

/* The frame's number, if the order of places gives it. */
static frame_id seek_in_order(struct builder *b, const struct frame *f, uint64_t price)
{
	const struct place_run *run = place_runs_of(&b->place_runs, f->function);
	frame_id id;

	if (place_run_is_behind(run, f) && budget_has(&b->budget, price)) {
		id.i = row_table_push_apart(&b->frames, &frame_rows, f);
		budget_take(&b->budget, price);
	} else if (!place_run_find(run, b->frames.rows, f, &id)) {
		id = builder_frame_seek(b, f, price);
	}
	if (b->frames.count == b->place_runs.count + 1 && id.i == b->place_runs.count)
		place_runs_add(&b->place_runs, f);
	return id;
}

frame_id builder_place_seek(struct builder *b, const struct frame *f)
{
	uint64_t price = BUDGET_FRAME_BYTES + BUDGET_STACK_BYTES + b->row_price;

	if (!b->has_places)
		places_begin(b);
	/* There are more frames once something is left out: those that replace it. */
	if (b->place_runs.count != b->frames.count)
		return builder_frame_seek(b, f, price);
	return seek_in_order(b, f, price);
}

void builder_places_end(struct builder *b)
{
	uint32_t count = (uint32_t)b->frames.count;

	if (!b->has_places)
		return;
	assert(stack_table_count(&b->stacks) == 1 && b->rows.count == 1);
	for (uint32_t i = 0; i < count; i++)
		(void)row_index_add(
			&b->rows, stack_table_push(&b->stacks, (stack_id){0}, (frame_id){i}));
	place_runs_deinit(&b->place_runs);
}
