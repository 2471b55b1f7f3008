/*
 * The call tree, recursion collapsed or not: every row is a node, or a stub `f...` that represents
 * a node above it, as Puma prints them: "direct (indirect)" and what was spent in the node only.
 */
#include "analysis/calltree.h"

#include "view/text/guides.h"
#include "view/text/table.h"
#include "view/text/text.h"
#include "view/views.h"

/* Significance depends on all rows of a difference, so all are made, whatever is shown. */
static void tree_view_analyse(struct report *report, struct arena *arena)
{
	const struct report_query *query = &report->query;
	struct calltree_limit limit = {.rows = query->limit,
		.keeps_others = query->difference != NULL,
		.has_widths = query->has_widths};

	/* Boxes of both signs need all rows. */
	if (query->has_widths && report->tree->has_negative)
		limit.rows = 0;

	report->calltree = query->kept_play
				   ? calltree_analyse_keeping(report->tree, query->collapse,
					     query->order, &limit, query->kept_play, arena)
				   : calltree_analyse(report->tree, query->collapse, query->order,
					     &limit, arena);
	report->row_count = report->calltree->count;
	report->left_out = report->calltree->whole_count - report->calltree->count;
	if (report->tree->levels_left_out)
		report_note(report,
			arena_printf(arena,
				"callers more than %u levels up are summed as [left out]: the "
				"inverted tree would be too large",
				report->tree->levels_left_out),
			arena);
}

static const struct entity *tree_view_entity(const struct report *report, size_t row)
{
	return &report->tree->entities[report->calltree->rows[row].entity];
}

static void tree_view_select(struct report *report, struct arena *arena)
{
	(void)arena;
	report->rows = report->calltree->shown;
	report->count = report->calltree->shown_count;
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
		if (report->margins && m == 0)
			table_add(table, COLUMN_IN_OR_UNDER_MARGIN);
		table_add_of(table, m, percent ? COLUMN_IN_ONLY_PERCENT : COLUMN_IN_ONLY);
		if (report->margins && m == 0)
			table_add(table, COLUMN_IN_ONLY_MARGIN);
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
	[PERCENT_RAW] = ", % of total", /* if --columns asks for one anyway */
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
	text_report_notes(text, report);
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
	COLUMN_IN_OR_UNDER_MARGIN,
	COLUMN_IN_ONLY_MARGIN,
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
	COLUMN_ID,
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
