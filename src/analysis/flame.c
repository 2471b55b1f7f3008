/*
 * The layout of a flame graph.  See flame.h.
 *
 * Two passes over the rows, which are in pre-order: from the last to the first, sums; from the
 * first to the last, places, as a row begins where its caller's rows before it end.
 */
#include "analysis/flame.h"

#include <stdlib.h>

#include "base/alloc.h"

struct flame_work {
	const struct calltree *tree, *widths;
	uint64_t *width; /* [row + 1]: in it or under it; [0] of the root */
	int64_t *weight; /* the same */
	uint64_t *next;	 /* [row + 1]: where its next child begins */
	struct flame *flame;
};

/* Weights of each sign sum to at most 63 bits (profile_check), so these sum to at most 64. */
static uint64_t size_of(int64_t weight)
{
	return weight < 0 ? 0 - (uint64_t)weight : (uint64_t)weight;
}

static size_t place_of(uint32_t row)
{
	return row == NO_ID ? 0 : (size_t)row + 1;
}

/* The sums of a tree that has them. */
static void copy_sums(struct flame_work *w)
{
	for (size_t i = 0; i < w->tree->count; i++) {
		w->width[i + 1] = size_of(w->tree->widths[i]);
		w->weight[i + 1] = w->tree->widths[i];
	}
}

static void add_sums(struct flame_work *w)
{
	w->width[0] = size_of(entity_tree_weight(w->widths->tree, 0));
	w->weight[0] = entity_tree_weight(w->tree->tree, 0);
	if (w->tree->widths) {
		w->weight[0] = entity_tree_weight_below(w->tree->tree, 0);
		w->width[0] = size_of(w->weight[0]);
		copy_sums(w);
		return;
	}
	for (size_t i = w->tree->count; i-- > 0;) {
		const struct calltree_row *row = &w->tree->rows[i];

		if (row->is_stub)
			continue;
		w->width[i + 1] += size_of(w->widths->rows[i].in_only);
		w->weight[i + 1] += row->in_only;
		w->width[place_of(row->parent)] += w->width[i + 1];
		w->weight[place_of(row->parent)] += w->weight[i + 1];
	}
}

static void add_boxes(struct flame_work *w, struct flame_box *boxes)
{
	size_t count = 0;

	boxes[count++] =
		(struct flame_box){.row = NO_ID, .width = w->width[0], .weight = w->weight[0]};
	for (size_t i = 0; i < w->tree->count; i++) {
		const struct calltree_row *row = &w->tree->rows[i];
		uint64_t *next = &w->next[place_of(row->parent)];

		if (row->is_stub || w->width[i + 1] == 0)
			continue;
		boxes[count++] = (struct flame_box){.row = (uint32_t)i,
			.depth = row->level,
			.start = *next,
			.width = w->width[i + 1],
			.weight = w->weight[i + 1]};
		w->next[i + 1] = *next;
		*next += w->width[i + 1];
		if (row->level > w->flame->depth_max)
			w->flame->depth_max = row->level;
	}
	w->flame->boxes = boxes;
	w->flame->count = count;
}

struct flame *flame_lay_out(
	const struct calltree *tree, const struct calltree *widths, struct arena *arena)
{
	size_t places = tree->count + 1;
	struct flame_work w = {.tree = tree,
		.widths = widths,
		.width = xcalloc(places, sizeof(uint64_t)),
		.weight = xcalloc(places, sizeof(int64_t)),
		.next = xcalloc(places, sizeof(uint64_t)),
		.flame = ARENA_ARRAY(arena, struct flame, 1)};

	add_sums(&w);
	add_boxes(&w, ARENA_ARRAY(arena, struct flame_box, places));
	free(w.width);
	free(w.weight);
	free(w.next);
	return w.flame;
}
