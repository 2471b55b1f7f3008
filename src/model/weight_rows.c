/*
 * Sums by row: the parts of weight_rows.h that are not in the hot path.
 */
#include "model/weight_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Rows made at once, so that not every new row needs an allocation. */
#define ROWS_MORE 64
/* Bytes of rows to turn into columns before their memory is freed. */
#define TAKEN_AT_ONCE ((size_t)4 << 20)

void weight_rows_begin(struct weight_rows *w, size_t metric_count)
{
	if (w->bounds)
		return;
	w->metric_count = metric_count;
	w->bounds = xcalloc(metric_count, sizeof(*w->bounds));
}

void weight_rows_deinit(struct weight_rows *w)
{
	vec_deinit(&w->sums);
	free(w->bounds);
	*w = (struct weight_rows){0};
}

void weight_rows_extend(struct weight_rows *w, size_t row)
{
	size_t count = (row + ROWS_MORE) * w->metric_count, before = w->sums.count;

	vec_reserve(&w->sums, count);
	memset(w->sums.data + before, 0, (count - before) * sizeof(*w->sums.data));
	w->sums.count = count;
}

bool weight_rows_any(const struct weight_rows *w, size_t row)
{
	size_t metrics = w->metric_count;

	for (size_t i = metrics * row; i < metrics * (row + 1) && i < w->sums.count; i++)
		if (w->sums.data[i] != 0)
			return true;
	return false;
}

void weight_rows_join(struct weight_rows *w, size_t from, size_t to)
{
	size_t metrics = w->metric_count;

	if (metrics * (from + 1) > w->sums.count)
		return;
	if (metrics * (to + 1) > w->sums.count)
		weight_rows_extend(w, to);
	for (size_t m = 0; m < metrics; m++) {
		uint64_t more = (uint64_t)w->sums.data[metrics * from + m];
		int64_t *sum = &w->sums.data[metrics * to + m];

		*sum = (int64_t)((uint64_t)*sum + more);
	}
}

void weight_rows_move(struct weight_rows *w, size_t last, size_t to)
{
	size_t metrics = w->metric_count;

	if (w->sums.count == 0 || metrics * (last + 1) > w->sums.count)
		return;
	int64_t *row = w->sums.data + metrics * last;

	memmove(w->sums.data + metrics * to, row, metrics * sizeof(*row));
	w->sums.count = metrics * last;
}

/* Copies rows [from, count) into the columns. */
static void rows_put(const struct weight_rows *w, size_t from, int64_t **columns, size_t count)
{
	size_t metrics = w->metric_count;

	for (size_t m = 0; m < metrics; m++)
		for (size_t i = from; i < count; i++)
			columns[m][i] = w->sums.data[i * metrics + m];
}

void weight_rows_take(struct weight_rows *w, int64_t **columns, size_t count)
{
	size_t metrics = w->metric_count, step = 1 + TAKEN_AT_ONCE / sizeof(int64_t) / metrics;

	if (count * metrics > w->sums.count)
		weight_rows_extend(w, count);
	if (metrics == 1) {
		columns[0] = xrealloc_array(w->sums.data, count, sizeof(int64_t));
		w->sums.data = NULL;
		weight_rows_deinit(w);
		return;
	}
	/* Pages that are not yet written take no memory. */
	for (size_t m = 0; m < metrics; m++)
		columns[m] = xcalloc(count, sizeof(int64_t));
	/* From the end, as that is where memory can be freed. */
	for (; count > step; count -= step) {
		rows_put(w, count - step, columns, count);
		w->sums.data =
			xrealloc_array(w->sums.data, (count - step) * metrics, sizeof(int64_t));
	}
	rows_put(w, 0, columns, count);
	weight_rows_deinit(w);
}
