/*
 * Sums by row: the parts of weight_rows.h that are not in the hot path.
 */
#include "model/weight_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Rows that are made at once, so that not every new one is some work of its own. */
#define ROWS_MORE 64

void weight_rows_begin(struct weight_rows *w, size_t metric_count)
{
	if (w->absolute_sum)
		return;
	w->metric_count = metric_count;
	w->absolute_sum = xcalloc(metric_count, sizeof(*w->absolute_sum));
}

void weight_rows_deinit(struct weight_rows *w)
{
	vec_deinit(&w->sums);
	free(w->absolute_sum);
	*w = (struct weight_rows){0};
}

void weight_rows_extend(struct weight_rows *w, size_t row)
{
	size_t count = (row + ROWS_MORE) * w->metric_count, before = w->sums.count;

	vec_reserve(&w->sums, count);
	memset(w->sums.data + before, 0, (count - before) * sizeof(*w->sums.data));
	w->sums.count = count;
}

bool weight_rows_fit(const struct weight_rows *w, size_t metric)
{
	return w->absolute_sum == NULL || w->absolute_sum[metric] <= INT64_MAX;
}

void weight_rows_column(struct weight_rows *w, size_t metric, int64_t *column, size_t count)
{
	size_t metrics = w->metric_count;

	if (count * metrics > w->sums.count)
		weight_rows_extend(w, count);
	for (size_t i = 0; i < count; i++)
		column[i] = w->sums.data[i * metrics + metric];
}
