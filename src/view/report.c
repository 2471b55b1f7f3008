/*
 * Makes a report: runs the view's analysis, sorts if asked, and picks the rows to show.
 */
#include "view/report.h"

#include <assert.h>
#include <stdlib.h>

#include "analysis/heat.h"
#include "analysis/zones.h"
#include "base/alloc.h"
#include "base/search.h"
#include "view/difference.h"
#include "view/margins.h"
#include "view/views.h"

const char *const percent_names[PERCENT_COUNT + 1] = {"raw", "total", "parent", NULL};

struct metric report_metric(const struct report *report)
{
	return report->profile->metrics[report->query.metric.i];
}

void report_add_stats(struct report *report, struct arena *arena)
{
	struct stats *stats = ARENA_NEW(arena, struct stats);

	*stats = stats_analyse(report->selection, report->tree, arena);
	report->stats = stats;
}

const metric_id *report_tree_metrics(const struct profile *profile,
	const struct report_query *query, struct arena *arena, size_t *count)
{
	size_t others = query->other_count + query->hidden_count;
	metric_id *metrics = ARENA_ARRAY(arena, metric_id, others + 2);
	metric_id entries;
	bool is_there = !query->view->adds_entries ||
			!profile_find_metric(profile, STR(ZONE_ENTRIES), &entries);

	*count = 1 + (query->view->joins_metrics ? others : 0);
	metrics[0] = query->metric;
	for (size_t i = 1; i < *count; i++)
		metrics[i] = query->others[i - 1];
	for (size_t i = 0; i < *count && !is_there; i++)
		is_there = metrics[i].i == entries.i;
	if (!is_there)
		metrics[(*count)++] = entries;
	return metrics;
}

bool report_wants_sums(const struct report_query *query)
{
	/* In a difference, weights may cancel where stacks merge; has_negative records that. */
	return query->view->sums_only && !query->spread && !query->invert && !query->difference;
}

struct entity_spec report_spec(
	const struct profile *profile, const struct report_query *query, struct arena *arena)
{
	size_t count;
	const metric_id *metrics = report_tree_metrics(profile, query, arena, &count);

	return (struct entity_spec){.level = query->level,
		.in_kept_order = query->order == CALLTREE_FIRST_SEEN,
		.metrics = metrics,
		.metric_count = count,
		.order_count = count - (query->view->joins_metrics ? query->stretch_count : 0),
		.same = query->same,
		.same_count = query->same_count,
		.is_difference = query->difference != NULL,
		.sums_only = report_wants_sums(query)};
}

const struct entity_tree *report_tree(
	const struct selection *selection, const struct report_query *query, struct arena *arena)
{
	struct entity_spec spec = report_spec(selection->profile, query, arena);
	/* Names of tasks are made with their tree; other trees go once they are inverted. */
	struct arena *scratch =
		query->invert && !level_is_of_tasks(query->level) ? arena_create() : NULL;
	struct arena *first = scratch ? scratch : arena;
	const struct entity_tree *tree = entity_tree_create(selection, &spec, first);

	if (query->spread)
		tree = entity_tree_spread(tree, first);
	if (query->invert)
		tree = entity_tree_invert(tree, arena);
	arena_destroy(scratch);
	return tree;
}

/* Sorting reads each cell once, not at every comparison. */
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

/* Whether a row is the first of an entry. */
static bool begins_entry(const struct report *report, size_t row)
{
	const struct view *view = report->query.view;

	return view->parts == NULL || view->part(report, row) == 0;
}

/* A difference is sorted by the size of the change, in either direction. */
static struct cell sort_cell(const struct report *report, const struct column *column, size_t row)
{
	struct cell cell = column->get(report, row);

	if (report->query.difference) {
		cell.weight = llabs(cell.weight + cell.indirect);
		cell.indirect = 0;
		cell.base = llabs(cell.base);
	}
	return cell;
}

/* Sorts entries by their own rows; their other rows stay after these. */
static void report_sort(struct report *report, const struct column *column, struct arena *arena)
{
	struct sort_item *items = xcalloc(report->entry_count, sizeof(*items));
	uint32_t *rows = ARENA_ARRAY(arena, uint32_t, report->row_count);
	size_t count = 0;

	for (size_t i = 0; i < report->row_count; i++)
		if (begins_entry(report, i))
			items[count++] =
				(struct sort_item){sort_cell(report, column, i), (uint32_t)i};
	qsort_r(items, count, sizeof(*items), sort_item_compare, (void *)(uintptr_t)column);
	count = 0;
	for (size_t i = 0; i < report->entry_count; i++) {
		uint32_t row = items[i].row;

		do
			rows[count++] = row++;
		while (row < report->row_count && !begins_entry(report, row));
	}
	free(items);
	report->rows = rows;
}

static size_t count_entries(const struct report *report)
{
	size_t count = 0;

	for (size_t i = 0; i < report->row_count; i++)
		count += begins_entry(report, i);
	return count;
}

/* How many rows the first entries have. */
static size_t rows_of_entries(const struct report *report, size_t entries)
{
	size_t place = 0;

	for (; place < report->row_count; place++)
		if (begins_entry(report, report_row(report, place)) && entries-- == 0)
			break;
	return place;
}

static const struct report *report_other(const struct report *first, size_t k, struct arena *arena)
{
	struct report *report = ARENA_NEW(arena, struct report);

	*report = *first;
	report->query.metric = first->query.others[k];
	report->query.other_count = report->query.hidden_count = 0;
	if (first->query.view->joins_metrics)
		report->tree = first->tree->others[k];
	if (first->functions)
		report->functions = first->functions->others[k];
	if (first->zones)
		report->zones = first->zones->others[k];
	if (first->heat)
		report->heat = first->heat->others[k];
	if (first->callers)
		report->callers = first->callers->others[k];
	if (first->calltree)
		report->calltree = first->calltree->others[k];
	if (first->annotation)
		report->annotation = first->annotation->others[k];
	if (first->callgraph)
		report->callgraph = first->callgraph->others[k];
	return report;
}

/* Call it once the rows are chosen. */
static void report_add_others(struct report *report, struct arena *arena)
{
	size_t count = report->query.other_count + report->query.hidden_count;
	const struct report **others = ARENA_ARRAY(arena, const struct report *, count);

	for (size_t k = 0; k < count; k++)
		others[k] = report_other(report, k, arena);
	report->others = others;
}

/* The sort column; for differences, the largest change first.  NULL: the analysis' own order. */
static const struct column *report_sort_column(const struct report_query *query)
{
	if (query->sort == NULL && query->difference && query->view->sorts &&
		query->view->main_column != COLUMN_NAME)
		return &columns[query->view->main_column];
	return query->sort;
}

static void report_choose_rows(
	struct report *report, const struct column *sort, struct arena *arena)
{
	const struct report_query *query = &report->query;

	report->count = report->row_count;
	report->entry_count = count_entries(report) + report->left_out;
	report->entries_shown = report->entry_count;
	if (sort && report->row_count)
		report_sort(report, sort, arena);
	if (query->limit == 0 || query->limit >= report->entry_count)
		return;
	if (query->view->select)
		query->view->select(report, arena);
	else
		report->count = rows_of_entries(report, query->limit);
	report->entries_shown = query->limit;
}

/* Each part of an entry has its first rows, which are the heaviest. */
static void report_bound_parts(struct report *report, struct arena *arena)
{
	const struct view *view = report->query.view;
	uint32_t *rows = ARENA_ARRAY(arena, uint32_t, report->count);
	size_t count = 0, of_part = 0, last = 0;

	for (size_t place = 0; place < report->count; place++) {
		size_t row = report_row(report, place), part = view->part(report, row);

		of_part = part != 0 && part == last ? of_part + 1 : 1;
		last = part;
		if (part == 0 || of_part <= report->query.part_rows ||
			(view->parts[part].is_whole && !report->query.budget))
			rows[count++] = (uint32_t)row;
	}
	report->lines_left_out = report->count - count;
	report->rows = rows;
	report->count = count;
}

static const struct report *report_second(const struct report *first, struct arena *arena)
{
	struct report *report = ARENA_NEW(arena, struct report);

	*report = *first;
	report->others = NULL;
	report->marks = NULL;
	report->query.sort = &columns[*first->query.view->second_sort];
	report_choose_rows(report, report->query.sort, arena);
	report_add_others(report, arena);
	if (report->query.difference)
		difference_mark(report, arena);
	return report;
}

void report_note(struct report *report, const char *note, struct arena *arena)
{
	const char **notes = ARENA_ARRAY(arena, const char *, report->note_count + 1);

	for (size_t i = 0; i < report->note_count; i++)
		notes[i] = report->notes[i];
	notes[report->note_count++] = note;
	report->notes = notes;
}

static void add_margins(struct report *report, struct arena *arena)
{
	report->margins = margins_create(report, arena);
	const char *notes[] = {margins_few_note(report->margins),
		margins_alike_note(report->margins, report, arena)};

	for (size_t i = 0; i < ARRAY_SIZE(notes); i++)
		if (notes[i])
			report_note(report, notes[i], arena);
}

struct report *report_create(const struct selection *selection, const struct entity_tree *tree,
	const struct report_query *query, struct arena *arena)
{
	struct report *report = ARENA_NEW(arena, struct report);

	*report = (struct report){.profile = selection->profile,
		.selection = selection,
		.query = *query,
		.tree = tree};
	query->view->analyse(report, arena);
	report_choose_rows(report, report_sort_column(query), arena);
	if (query->part_rows && query->view->parts)
		report_bound_parts(report, arena);
	report_add_others(report, arena);
	if (query->difference)
		difference_mark(report, arena);
	if (query->confidence)
		add_margins(report, arena);
	if (query->view->second_sort && query->sort == NULL)
		report->second = report_second(report, arena);
	return report;
}

size_t report_place(const struct report *report, size_t row)
{
	if (report->rows == NULL)
		return row;
	size_t place = partition_point(i, 0, report->count, report->rows[i] < row);

	assert(place < report->count && report->rows[place] == row);
	return place;
}
