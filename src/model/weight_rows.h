#ifndef SONDE_MODEL_WEIGHT_ROWS_H
#define SONDE_MODEL_WEIGHT_ROWS_H

/*
 * Sums in the making that stand by row, since what comes in adds to all metrics of one: those of an
 * arc, or of a stack.  A profile has a column of each metric.  For model/ alone.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/vec.h"

struct weight_rows {
	VEC(int64_t) sums;	/* [row * metric_count + metric], 0 behind the last that came */
	uint64_t *absolute_sum; /* [metric] of all that came; stays at UINT64_MAX; NULL: none did */
	size_t metric_count;
};

/* Before the first row; of one that has been begun, nothing. */
void weight_rows_begin(struct weight_rows *w, size_t metric_count);
void weight_rows_deinit(struct weight_rows *w);
/* Makes room for the rows up to that one, the new ones zero. */
void weight_rows_extend(struct weight_rows *w, size_t row);
/* Whether any sum of that row is not 0. */
bool weight_rows_any(const struct weight_rows *w, size_t row);
/* Adds the sums of a row to those of another; both stay. */
void weight_rows_join(struct weight_rows *w, size_t from, size_t to);
/* Moves the last row there is, `last`, to another's place. */
void weight_rows_move(struct weight_rows *w, size_t last, size_t to);
/* Whether the absolute weights in that metric sum up to no more than 63 bits hold. */
bool weight_rows_fit(const struct weight_rows *w, size_t metric);
/*
 * Hands over the sums of the first count rows as a column for each metric, columns[metric][count],
 * each to be freed with free().  The rows go while the columns come, so that memory holds them
 * once.
 */
void weight_rows_take(struct weight_rows *w, int64_t **columns, size_t count);

/* weight[metric_count], to that row; it wraps where weight_rows_fit will say no. */
static inline void weight_rows_add(struct weight_rows *w, size_t row, const int64_t *weight)
{
	size_t metrics = w->metric_count, begin = row * metrics;

	if (unlikely(begin + metrics > w->sums.count))
		weight_rows_extend(w, row);
	uint64_t *absolute = w->absolute_sum;
	for (size_t m = 0; m < metrics; m++) {
		uint64_t more = (uint64_t)weight[m];
		int64_t *sum = &w->sums.data[begin + m];

		*sum = (int64_t)((uint64_t)*sum + more);
		if (__builtin_add_overflow(
			    absolute[m], weight[m] < 0 ? 0 - more : more, &absolute[m]))
			absolute[m] = UINT64_MAX;
	}
}

#endif
