/*
 * Shallow and deep counts, as MAINPM's PC sampling lists them: each procedure twice, sorted by what
 * was counted while it executed itself and by what was counted while it was active, and below them
 * how the sampling went.  The figures are those of the functions view, under names that fit WHEN,
 * which changes the functions that they are counted for.
 */
#include "analysis/functions.h"

#include "view/text/flat.h"
#include "view/text/text.h"
#include "view/views.h"

static void deep_view_analyse(struct report *report, struct arena *arena)
{
	report->functions = functions_analyse(report->tree, arena);
	report->row_count = report->functions->count;
	report_add_stats(report, arena);
}

static const struct entity *deep_view_entity(const struct report *report, size_t row)
{
	return entity_tree_entity(report->tree, report->functions->rows[row].entity);
}

static const struct flat_columns flat_columns = {
	.own = COLUMN_SHALLOW,
	.own_percent = COLUMN_SHALLOW_PERCENT,
	.own_margin = COLUMN_SHALLOW_MARGIN,
	.own_change = COLUMN_SHALLOW_CHANGE,
	.all = COLUMN_DEEP,
	.all_percent = COLUMN_DEEP_PERCENT,
	.all_margin = COLUMN_DEEP_MARGIN,
	.all_change = COLUMN_DEEP_CHANGE,
};

static void draw_listing(struct text *text, const struct report *report, const struct column *by)
{
	struct table table;

	text_title(text, "Shallow and deep counts, by %s%s",
		report->query.difference ? "change of " : "", by->key);
	table_init(&table, text, report);
	if (report->query.column_count)
		table_add_asked(&table);
	else
		flat_add_columns(report, &table, &flat_columns);
	table_draw(&table, NULL, NULL);
	table_deinit(&table);
	text_more_rows(text, report);
}

static const enum column_id second_sort = COLUMN_DEEP;

static void deep_view_draw(struct text *text, const struct report *report)
{
	struct table facts;

	draw_listing(
		text, report, report->query.sort ? report->query.sort : &columns[COLUMN_SHALLOW]);
	if (report->second)
		draw_listing(text, report->second, &columns[second_sort]);
	/* The sampling statistics are for one file, and a difference has two. */
	if (report->query.difference)
		return;
	table_init(&facts, text, report);
	text_title(text, "Statistics");
	table_draw_facts(&facts, statistics_columns);
	table_deinit(&facts);
}

static const enum column_id data_columns[] = {
	COLUMN_NAME,
	COLUMN_MODULE,
	COLUMN_FILE,
	COLUMN_LINE,
	COLUMN_EXCLUSIVE,
	COLUMN_INCLUSIVE,
	COLUMN_SHALLOW,
	COLUMN_DEEP,
	COLUMN_SHALLOW_MARGIN,
	COLUMN_DEEP_MARGIN,
	COLUMN_END,
};

static const enum column_id metric_columns[] = {
	COLUMN_EXCLUSIVE,
	COLUMN_INCLUSIVE,
	COLUMN_SHALLOW,
	COLUMN_DEEP,
	COLUMN_END,
};

static const enum column_id more_columns[] = {
	COLUMN_SHALLOW_PERCENT,
	COLUMN_DEEP_PERCENT,
	COLUMN_SHALLOW_CHANGE,
	COLUMN_DEEP_CHANGE,
	COLUMN_SIGNIFICANT,
	COLUMN_ID,
	COLUMN_END,
};

const struct view view_deep = {
	.name = "deep",
	.summary = "shallow and deep counts, and how the sampling went",
	.data_columns = data_columns,
	.more_columns = more_columns,
	.metric_columns = metric_columns,
	.main_column = COLUMN_SHALLOW,
	.second_sort = &second_sort,
	.joins_metrics = true,
	.has_levels = true,
	.sorts = true,
	.analyse = deep_view_analyse,
	.entity = deep_view_entity,
	.draw = deep_view_draw,
};
