/*
 * What the recording itself was like: how many samples, how many were expected, what was lost.
 */
#include "analysis/stats.h"

#include "view/text/table.h"
#include "view/text/text.h"
#include "view/views.h"

static void stats_view_analyse(struct report *report, struct arena *arena)
{
	struct stats *stats = ARENA_NEW(arena, struct stats);

	*stats = stats_analyse(report->profile, report->tree);
	report->stats = stats;
	report->row_count = 1;
}

static const enum column_id data_columns[] = {
	COLUMN_COUNTED,
	COLUMN_EXPECTED,
	COLUMN_LOST,
	COLUMN_FOREIGN,
	COLUMN_CRITICAL,
	COLUMN_EXCLUDED,
	COLUMN_DURATION,
	COLUMN_CPU,
	COLUMN_INTERVAL,
	COLUMN_END,
};

static const enum column_id more_columns[] = {
	COLUMN_STACKS,
	COLUMN_FUNCTIONS,
	COLUMN_STACK_DEPTH_MAX,
	COLUMN_STACK_DEPTH_MEAN,
	COLUMN_RECURSIVE,
	COLUMN_END,
};

static void stats_view_draw(struct text *text, const struct report *report)
{
	struct table table;

	table_init(&table, text, report);
	text_title(text, "Statistics");
	if (report->query.column_count) {
		table_draw_facts(&table, report->query.columns);
		return;
	}
	table_draw_facts(&table, data_columns);
	text_title(text, "Stacks");
	table_draw_facts(&table, more_columns);
}

const struct view view_stats = {
	.name = "stats",
	.summary = "samples counted, expected, lost; what they stand for",
	.data_columns = data_columns,
	.more_columns = more_columns,
	.analyse = stats_view_analyse,
	.draw = stats_view_draw,
};
