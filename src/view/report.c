/*
 * Makes a report: runs the view's analysis, sorts if asked, and picks the rows to show.
 */
#include "view/report.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "view/views.h"

const char *const percent_names[PERCENT_COUNT + 1] = {"raw", "total", "parent", NULL};

struct metric report_metric(const struct report *report)
{
	return report->profile->metrics[report->query.metric.i];
}

const struct entity_tree *report_tree(
	const struct profile *profile, const struct report_query *query, struct arena *arena)
{
	const struct entity_tree *tree =
		entity_tree_create(profile, query->level, query->metric, arena);

	return query->spread ? entity_tree_spread(tree, arena) : tree;
}

/* Sorting reads each cell once and not at every comparison. */
struct sort_item {
	struct cell cell;
	uint32_t row;
};

static int sort_item_compare(const void *a, const void *b, void *context)
{
	const struct sort_item *x = a, *y = b;
	const struct column *column = context;
	int order = cell_compare(column->kind, &x->cell, &y->cell);

	if (order != 0)
		return order;
	/* The analysis' own order breaks ties, so that equal reports print equally. */
	return (x->row > y->row) - (x->row < y->row);
}

static void report_sort(struct report *report, const struct column *column, struct arena *arena)
{
	struct sort_item *items = xcalloc(report->row_count, sizeof(*items));
	uint32_t *rows = ARENA_ARRAY(arena, uint32_t, report->row_count);

	for (size_t i = 0; i < report->row_count; i++)
		items[i] = (struct sort_item){column->get(report, i), (uint32_t)i};
	qsort_r(items, report->row_count, sizeof(*items), sort_item_compare,
		(void *)(uintptr_t)column);
	for (size_t i = 0; i < report->row_count; i++)
		rows[i] = items[i].row;
	free(items);
	report->rows = rows;
}

struct report *report_create(const struct profile *profile, const struct entity_tree *tree,
	const struct report_query *query, struct arena *arena)
{
	struct report *report = ARENA_NEW(arena, struct report);
	const struct view *view = query->view;

	*report = (struct report){.profile = profile, .query = *query, .tree = tree};
	view->analyse(report, arena);
	report->count = report->row_count;
	if (query->sort && report->row_count)
		report_sort(report, query->sort, arena);
	if (query->limit == 0 || query->limit >= report->row_count)
		return report;
	if (view->select)
		view->select(report, arena);
	else
		report->count = query->limit;
	return report;
}

size_t report_place(const struct report *report, size_t row)
{
	size_t low = 0, high = report->count;

	if (report->rows == NULL)
		return row;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (report->rows[middle] <= row)
			low = middle;
		else
			high = middle;
	}
	assert(low < report->count && report->rows[low] == row);
	return low;
}
