#ifndef SONDE_MODEL_WEIGHT_ROWS_H
#define SONDE_MODEL_WEIGHT_ROWS_H

/*
 * Sums under construction, stored by row (an arc's or a stack's), since each addition goes to all
 * metrics of one row.  A profile has a column for each metric instead.  For model/ alone.
 *
 * Sums beyond 63 bits are refused, of the positive and of the negative weights separately: so no
 * figure, being a sum of some of the weights, can exceed 63 bits, in whatever order they are
 * added.  Changes between two profiles are then as large as either.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/saturate.h"
#include "base/vec.h"

/* The sums of the positive and of the negative weights, without sign; saturate at UINT64_MAX. */
struct weight_bounds {
	uint64_t of[2]; /* [weight < 0] */
};

static inline void weight_bounds_add(struct weight_bounds *b, int64_t weight)
{
	uint64_t more = weight < 0 ? 0 - (uint64_t)weight : (uint64_t)weight;

	add_saturating(&b->of[weight < 0], more);
}
static inline void weight_bounds_join(struct weight_bounds *b, const struct weight_bounds *more)
{
	for (int i = 0; i < 2; i++)
		add_saturating(&b->of[i], more->of[i]);
}
/* Adds all; many at a time if they are so small that no sum of them can exceed 64 bits. */
static inline void weight_bounds_add_all(
	struct weight_bounds *b, const int64_t *weight, size_t count)
{
	enum { PART = 1024, SMALL_BITS = 53 };

	for (size_t end; count; weight += end, count -= end) {
		struct weight_bounds part = {0};
		uint64_t any = 0;

		end = count < PART ? count : PART;
		for (size_t i = 0; i < end; i++) {
			uint64_t below = weight[i] < 0 ? 0 - (uint64_t)weight[i] : 0;
			uint64_t above = weight[i] < 0 ? 0 : (uint64_t)weight[i];

			any |= below | above;
			part.of[0] += above;
			part.of[1] += below;
		}
		if (likely(any >> SMALL_BITS == 0))
			weight_bounds_join(b, &part);
		else
			for (size_t i = 0; i < end; i++)
				weight_bounds_add(b, weight[i]);
	}
}
static inline bool weight_bounds_fit(const struct weight_bounds *b)
{
	return b->of[0] <= INT64_MAX && b->of[1] <= INT64_MAX;
}

struct weight_rows {
	VEC(int64_t) sums;	      /* [row * metric_count + metric], 0 after the last added */
	struct weight_bounds *bounds; /* [metric] of all added weights; NULL: none */
	size_t metric_count;
};

/* To be called before the first row; later calls do nothing. */
void weight_rows_begin(struct weight_rows *w, size_t metric_count);
void weight_rows_deinit(struct weight_rows *w);
/* Makes room for the rows up to that one, the new ones zero. */
void weight_rows_extend(struct weight_rows *w, size_t row);
/* Whether any sum of that row is not 0. */
bool weight_rows_any(const struct weight_rows *w, size_t row);
/* Adds the sums of a row to those of another; both stay. */
void weight_rows_join(struct weight_rows *w, size_t from, size_t to);
/* Moves the last row, `last`, to another row's place. */
void weight_rows_move(struct weight_rows *w, size_t last, size_t to);
/*
 * Returns the sums of the first count rows as a column for each metric, columns[metric][count],
 * each to be freed with free().  Rows are freed while columns are made, so memory holds the sums
 * once.
 */
void weight_rows_take(struct weight_rows *w, int64_t **columns, size_t count);

/* Adds weight[metric_count] to that row; the sum wraps if its bounds do not fit. */
static inline void weight_rows_add(struct weight_rows *w, size_t row, const int64_t *weight)
{
	size_t metrics = w->metric_count, begin = row * metrics;

	if (unlikely(begin + metrics > w->sums.count))
		weight_rows_extend(w, row);
	struct weight_bounds *bounds = w->bounds;
	for (size_t m = 0; m < metrics; m++) {
		int64_t *sum = &w->sums.data[begin + m];

		*sum = (int64_t)((uint64_t)*sum + (uint64_t)weight[m]);
		weight_bounds_add(&bounds[m], weight[m]);
	}
}

#endif
