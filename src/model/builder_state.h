#ifndef SONDE_MODEL_BUILDER_STATE_H
#define SONDE_MODEL_BUILDER_STATE_H

/*
 * The builder's state while it reads a profile; private to builder*.c.  These are three nouns that
 * share it: rows and what they cost (builder.c), weights and samples (builder_weights.c), and the
 * profile that is made of both at the end (builder_finish.c).
 */

#include "model/builder.h"

#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/row_table.h"
#include "base/saturate.h"
#include "base/vec.h"
#include "model/arc_table.h"
#include "model/budget.h"
#include "model/label_tables.h"
#include "model/place_runs.h"
#include "model/row_index.h"
#include "model/row_kinds.h"
#include "model/stack_table.h"
#include "model/weight_rows.h"
#include "model/zone_tables.h"

/* One metric's weights of samples as they come in. */
struct column {
	VEC(int64_t) of_sample;
	struct weight_bounds bounds; /* of everything added */
};

struct builder {
	struct arena *arena;
	struct budget budget; /* unlimited, unless there is an input */
	bool has_input;
	struct str_table strings;
	struct row_table objects, functions, frames, metrics, processes, threads, notes;
	uint32_t frame_before; /* the last result of builder_frame */
	struct arc_table arcs;
	struct stack_table stacks;
	struct row_index rows;
	uint64_t row_price;
	struct weight_rows weights;   /* [row] added without samples; frame i has row i + 1 */
	struct place_runs place_runs; /* of builder_place; its frames are not in the lookup */
	VEC(uint64_t) samples_of_row; /* up to the last row that has any */
	struct column *columns;	      /* [metric], made with the first sample */
	bool samples_unknown, has_weights, has_places;
	uint64_t samples_sum; /* stays at UINT64_MAX */
	VEC(stack_id) sample_stack;
	VEC(thread_id) sample_thread;
	VEC(uint64_t) sample_time;
	VEC(stack_id) sample_zone; /* up to the last sample that has one */
	struct label_tables labels;
	VEC(label_id) label_ids; /* of the set being made */
	struct zone_tables zones;
	/* Replacements for everything without room; NO_ID, SIZE_MAX: none so far. */
	process_id process_left_out;
	thread_id thread_left_out;
	size_t sample_left_out;
	bool is_left_out; /* the last added sample */
	struct builder_header header;
};

/* Frees the columns of weights, as many as the metric table has rows. */
void builder_columns_destroy(struct builder *b);

/* The frame's number; a new frame is charged for.  Without room, that of the left-out frame. */
frame_id builder_frame_seek(struct builder *b, const struct frame *f, uint64_t price);
/* The same; frames mostly recur in the order of first use, so the next one is tried first. */
static inline frame_id builder_frame_intern(
	struct builder *b, const struct frame *f, uint64_t price)
{
	frame_id id = {b->frame_before + 1};

	if (id.i >= b->frames.count || !frame_same(row_table_row(&b->frames, &frame_rows, id.i), f))
		id = builder_frame_seek(b, f, price);
	b->frame_before = id.i;
	return id;
}

/* Makes each place's stack, and adds its weights to the columns of stacks. */
void builder_places_end(struct builder *b);

/* The stack that replaces those without room; made when first needed. */
stack_id builder_stack_left_out(struct builder *b);
/* The stack of the function "[no stack]" alone, in no object. */
stack_id builder_stack_of_none(struct builder *b);
/*
 * Moves weights from the empty stack to that one, so that functions' exclusive weights sum to the
 * total.  If the header has WHEN patterns, the weights stay: reports account for what these left.
 */
void builder_name_no_stack(struct builder *b);

/* Adds notes about everything without room; lifts the limit on notes. */
void builder_note_refused(struct builder *b);

static inline bool refuse(struct builder *b, enum budget_row row)
{
	b->budget.refused[row]++;
	return false;
}

/* Whether there is room for one more row; charges for it, or counts the refusal. */
static inline bool pay(struct builder *b, enum budget_row row, uint64_t price)
{
	if (!budget_has(&b->budget, price))
		return refuse(b, row);
	budget_take(&b->budget, price);
	return true;
}

/* Wraps if the sum exceeds 63 bits; builder_finish refuses that profile. */
static inline void add_wrapping(int64_t *sum, int64_t more)
{
	*sum = (int64_t)((uint64_t)*sum + (uint64_t)more);
}

static inline void columns_ensure(struct builder *b)
{
	if (b->columns == NULL)
		b->columns = xcalloc(b->metrics.count, sizeof(*b->columns));
}

#endif
