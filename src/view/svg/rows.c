/* Rows of a flame graph.  See rows.h. */
#include "view/svg/rows.h"

/* A shorter fold would not save enough rows to be worth a click. */
#define FOLD_MIN 12u

/* The length of the run from a box on: each is as wide as its only child, as far as can be seen. */
static uint32_t run_length(const struct flame *flame, uint32_t first, uint64_t narrow)
{
	const struct flame_box *box = &flame->boxes[first];
	uint32_t count = 1;

	while (first + count < flame->count && box[count].depth == box[count - 1].depth + 1 &&
		box[count - 1].width - box[count].width < narrow)
		count++;
	return count;
}

struct svg_rows *svg_rows_create(const struct flame *flame, uint64_t narrow, struct arena *arena)
{
	struct svg_rows *r = ARENA_NEW(arena, struct svg_rows);
	uint32_t *row = ARENA_ARRAY(arena, uint32_t, flame->count);
	uint32_t *folded = ARENA_ARRAY(arena, uint32_t, flame->count);
	bool *is_hidden = ARENA_ARRAY(arena, bool, flame->count);
	uint32_t *row_at = ARENA_ARRAY(arena, uint32_t, (size_t)flame->depth_max + 1);
	uint32_t run_end = 0, fold_begin = 0, fold_end = 0; /* of the last ones */

	for (uint32_t i = 0; i < flame->count; i++) {
		const struct flame_box *box = &flame->boxes[i];
		bool is_narrow = box->depth && box->width < narrow;

		row[i] = box->depth ? row_at[box->depth - 1] + (i <= fold_begin || i >= fold_end)
				    : 0;
		row_at[box->depth] = row[i];
		is_hidden[i] = is_narrow || (i >= fold_begin && i < fold_end);
		if (!is_narrow && r->count <= row[i])
			r->count = row[i] + 1;
		if (i < run_end || is_narrow)
			continue;
		run_end = i + run_length(flame, i, narrow);
		/* The first and the last of a run stay. */
		if (run_end - i >= FOLD_MIN + 2) {
			fold_begin = i + 1;
			fold_end = run_end - 1;
			folded[fold_begin] = fold_end - fold_begin;
		}
	}
	r->row = row;
	r->folded = folded;
	r->is_hidden = is_hidden;
	return r;
}
