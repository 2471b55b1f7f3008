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
	size_t count = 1 + (query->view->joins_metrics ? query->other_count : 0);
	metric_id *metrics = ARENA_ARRAY(arena, metric_id, count);

	metrics[0] = query->metric;
	for (size_t i = 1; i < count; i++)
		metrics[i] = query->others[i - 1];
	const struct entity_tree *tree =
		entity_tree_create_for(profile, query->level, metrics, count, arena);

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

static const struct report *report_other(const struct report *first, size_t k, struct arena *arena)
{
	struct report *report = ARENA_NEW(arena, struct report);

	*report = *first;
	report->query.metric = first->query.others[k];
	report->query.other_count = 0;
	if (first->query.view->joins_metrics)
		report->tree = first->tree->others[k];
	if (first->functions)
		report->functions = first->functions->others[k];
	if (first->calltree)
		report->calltree = first->calltree->others[k];
	return report;
}

/* Once the rows are chosen. */
static void report_add_others(struct report *report, struct arena *arena)
{
	size_t count = report->query.other_count;
	const struct report **others = ARENA_ARRAY(arena, const struct report *, count);

	for (size_t k = 0; k < count; k++)
		others[k] = report_other(report, k, arena);
	report->others = others;
}

static void report_choose_rows(struct report *report, struct arena *arena)
{
	const struct report_query *query = &report->query;

	report->count = report->row_count;
	if (query->sort && report->row_count)
		report_sort(report, query->sort, arena);
	if (query->limit == 0 || query->limit >= report->row_count)
		return;
	if (query->view->select)
		query->view->select(report, arena);
	else
		report->count = query->limit;
}

struct report *report_create(const struct profile *profile, const struct entity_tree *tree,
	const struct report_query *query, struct arena *arena)
{
	struct report *report = ARENA_NEW(arena, struct report);

	*report = (struct report){.profile = profile, .query = *query, .tree = tree};
	query->view->analyse(report, arena);
	report_choose_rows(report, arena);
	report_add_others(report, arena);
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
