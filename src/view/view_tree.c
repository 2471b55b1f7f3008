/*
 * The call tree, recursion collapsed or not: every row is a node, or a stub `f...` that stands for
 * a node above it, as Puma prints them: "direct (indirect)" and what was spent in the node only.
 */
#include "analysis/calltree.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/search.h"
#include "view/text/guides.h"
#include "view/text/table.h"
#include "view/text/text.h"
#include "view/views.h"

static void tree_view_analyse(struct report *report, struct arena *arena)
{
	report->calltree =
		calltree_analyse(report->tree, report->query.collapse, report->query.order, arena);
	report->row_count = report->calltree->count;
}

static const struct entity *tree_view_entity(const struct report *report, size_t row)
{
	return &report->tree->entities[report->calltree->rows[row].entity];
}

/*
 * How much a row deserves to be shown: its weight, but never less than that of a row below it (that
 * differs where weights are negative), so that what is shown is always a whole tree.  A stub ranks
 * as the node that it belongs to.
 */
static uint64_t *tree_view_ranks(const struct report *report)
{
	const struct calltree_row *rows = report->calltree->rows;
	uint64_t *rank = xcalloc(report->row_count, sizeof(*rank));

	for (size_t i = report->row_count; i-- > 0;) {
		uint64_t own = (uint64_t)llabs(rows[i].direct) + (uint64_t)llabs(rows[i].indirect);

		if (rank[i] < own)
			rank[i] = own;
		if (rows[i].parent != NO_ID && rank[rows[i].parent] < rank[i])
			rank[rows[i].parent] = rank[i];
	}
	for (size_t i = 0; i < report->row_count; i++)
		if (rows[i].is_stub && rows[i].parent != NO_ID)
			rank[i] = rank[rows[i].parent];
	return rank;
}

static size_t count_at_least(const uint64_t *rank, size_t count, uint64_t least)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		n += rank[i] >= least;
	return n;
}

/* The highest rank that at least `wanted` rows reach (wanted ≤ count). */
static uint64_t rank_threshold(const uint64_t *rank, size_t count, size_t wanted)
{
	uint64_t highest = 0;

	for (size_t i = 0; i < count; i++)
		if (rank[i] > highest)
			highest = rank[i];
	return partition_point(r, 0, highest, count_at_least(rank, count, r + 1) >= wanted);
}

/*
 * The limit keeps the heaviest rows, not the first ones: a tree in pre-order would otherwise be cut
 * in the middle of its first branch.  A parent comes before its children and ranks no lower, so
 * taking equals from the front never takes a row without its parent.
 */
static void tree_view_select(struct report *report, struct arena *arena)
{
	size_t limit = report->query.limit, count = 0;
	uint64_t *rank = tree_view_ranks(report);
	uint64_t threshold = rank_threshold(rank, report->row_count, limit);
	size_t above = threshold == UINT64_MAX
			       ? 0
			       : count_at_least(rank, report->row_count, threshold + 1);
	size_t equals = limit - above;
	uint32_t *rows = ARENA_ARRAY(arena, uint32_t, limit);

	for (size_t i = 0; i < report->row_count; i++) {
		if (rank[i] < threshold || (rank[i] == threshold && equals == 0))
			continue;
		equals -= rank[i] == threshold;
		rows[count++] = (uint32_t)i;
	}
	free(rank);
	report->rows = rows;
	report->count = count;
}

/* Narrower terminals show the levels by the guides alone. */
#define LEVEL_WIDTH_MIN 60u

static void tree_view_difference(struct table *table)
{
	table_add(table, COLUMN_IN_OR_UNDER);
	table_add(table, COLUMN_IN_OR_UNDER_CHANGE);
	table_add_of(table, 1, COLUMN_IN_OR_UNDER);
	table_add_of(table, 2, COLUMN_IN_OR_UNDER);
	table_add(table, COLUMN_IN_ONLY);
	table_add(table, COLUMN_IN_ONLY_CHANGE);
	table_add(table, COLUMN_NAME);
}

static void tree_view_columns(const struct report *report, struct table *table)
{
	bool percent = report->query.percent != PERCENT_RAW;

	for (size_t m = 0; m <= report->query.other_count; m++) {
		table_add_of(table, m, percent ? COLUMN_IN_OR_UNDER_PERCENT : COLUMN_IN_OR_UNDER);
		table_add_of(table, m, percent ? COLUMN_IN_ONLY_PERCENT : COLUMN_IN_ONLY);
	}
	if (!text_is_narrower(table->text, LEVEL_WIDTH_MIN))
		table_add(table, COLUMN_LEVEL);
	table_add(table, COLUMN_NAME);
}

static const char *const collapse_phrases[COLLAPSE_COUNT] = {
	[COLLAPSE_NONE] = "recursion not collapsed",
	[COLLAPSE_DIRECT] = "direct recursion collapsed",
	[COLLAPSE_CONSERVATIVE] = "recursion collapsed conservatively",
	[COLLAPSE_FULL] = "recursion collapsed in full",
};

static const char *const percent_phrases[PERCENT_COUNT] = {
	[PERCENT_RAW] = ", % of total", /* where --columns asks for one all the same */
	[PERCENT_TOTAL] = ", % of total",
	[PERCENT_PARENT] = ", % of the row above it",
};

static bool has_percent(const struct table *table)
{
	for (size_t i = 0; i < table->items.count; i++)
		if (table->items.data[i].column->kind == COLUMN_KIND_PERCENT)
			return true;
	return false;
}

static void tree_view_draw(struct text *text, const struct report *report)
{
	struct table table;
	struct guides *guides = guides_create(report, text->style);

	table_init(&table, text, report);
	if (report->query.column_count)
		table_add_asked(&table);
	else if (report->query.difference)
		tree_view_difference(&table);
	else
		tree_view_columns(report, &table);
	text_title(text, "Call tree%s, %s%s",
		report->query.invert ? " inverted: callers below" : "",
		collapse_phrases[report->query.collapse],
		has_percent(&table) ? percent_phrases[report->query.percent] : "");
	table_draw(&table, guides_label, guides);
	table_deinit(&table);
	guides_destroy(guides);
	text_more_rows(text, report);
}

static const enum column_id data_columns[] = {
	COLUMN_LEVEL,
	COLUMN_NAME,
	COLUMN_MODULE,
	COLUMN_KIND,
	COLUMN_DIRECT,
	COLUMN_INDIRECT,
	COLUMN_IN_ONLY,
	COLUMN_TARGET,
	COLUMN_END,
};

static const enum column_id metric_columns[] = {
	COLUMN_DIRECT,
	COLUMN_INDIRECT,
	COLUMN_IN_ONLY,
	COLUMN_END,
};

static const enum column_id more_columns[] = {
	COLUMN_IN_OR_UNDER,
	COLUMN_IN_OR_UNDER_PERCENT,
	COLUMN_IN_ONLY_PERCENT,
	COLUMN_IN_OR_UNDER_CHANGE,
	COLUMN_IN_ONLY_CHANGE,
	COLUMN_SIGNIFICANT,
	COLUMN_STUB_WEIGHT,
	COLUMN_DEPTH_MAX,
	COLUMN_DEPTH_MEAN,
	COLUMN_FILE,
	COLUMN_LINE,
	COLUMN_ADDRESS,
	COLUMN_END,
};

const struct view view_tree = {
	.name = "tree",
	.summary = "who called whom, recursion collapsed into stubs `f...`",
	.data_columns = data_columns,
	.more_columns = more_columns,
	.metric_columns = metric_columns,
	.main_column = COLUMN_IN_OR_UNDER,
	.joins_metrics = true,
	.has_levels = true,
	.is_tree = true,
	.needs_stacks = true,
	.has_parents = true,
	.analyse = tree_view_analyse,
	.entity = tree_view_entity,
	.select = tree_view_select,
	.draw = tree_view_draw,
};
