/*
 * The flat views: every function, with its exclusive and inclusive weight.  modules, lines and
 * threads are functions at another level and nothing else.
 */
#include "analysis/functions.h"

#include "view/text/flat.h"
#include "view/text/text.h"
#include "view/views.h"

/* This happens in files that were truncated, merged from others or made by hand. */
static void note_above(struct report *report, struct arena *arena)
{
	size_t count = report->functions->above_count;

	if (count)
		report_note(report,
			arena_printf(arena,
				"calls of %zu %s cost more than all that was counted: inclusive is "
				"above the total there",
				count, count == 1 ? "function" : "functions"),
			arena);
}

static const struct entity *functions_view_entity(const struct report *report, size_t row)
{
	return entity_tree_entity(report->tree, report->functions->rows[row].entity);
}

static void functions_view_analyse(struct report *report, struct arena *arena)
{
	report->functions = functions_analyse(report->tree, arena);
	report->row_count = report->functions->count;
	note_above(report, arena);
	if (report->functions->bound_count)
		report_note(report,
			"in recursion through several functions calls' costs overlap: there "
			"inclusive is at most what is shown",
			arena);
}

static bool functions_view_has_column(const struct report *report, enum column_id id)
{
	return id != COLUMN_CALLS || report->functions->has_calls;
}

static const struct flat_columns flat_columns = {
	.own = COLUMN_EXCLUSIVE,
	.own_percent = COLUMN_EXCLUSIVE_PERCENT,
	.own_margin = COLUMN_EXCLUSIVE_MARGIN,
	.own_change = COLUMN_EXCLUSIVE_CHANGE,
	.all = COLUMN_INCLUSIVE,
	.all_percent = COLUMN_INCLUSIVE_PERCENT,
	.all_margin = COLUMN_INCLUSIVE_MARGIN,
	.all_change = COLUMN_INCLUSIVE_CHANGE,
};

static void functions_view_title(struct text *text, const struct report *report)
{
	static const char *const titles[LEVEL_COUNT] = {
		[LEVEL_FUNCTION] = "Functions",
		[LEVEL_MODULE] = "Modules",
		[LEVEL_FILE] = "Source files",
		[LEVEL_LINE] = "Source lines",
		[LEVEL_INSTRUCTION] = "Instructions",
		[LEVEL_THREAD] = "Threads",
		[LEVEL_PROCESS] = "Processes",
		[LEVEL_CPU] = "CPUs",
		[LEVEL_ZONE] = "Zones",
	};
	const char *what = titles[report->query.level];
	const char *how = report->functions->is_estimated  ? ", inclusive estimated"
			  : report->functions->is_measured ? ", inclusive measured"
							   : "";
	const struct column *sort = report->query.sort;
	struct str metric = profile_string(report->profile, report_metric(report).name);

	if (sort == NULL)
		sort = &columns[COLUMN_EXCLUSIVE];
	if (sort->kind == COLUMN_KIND_WEIGHT)
		text_title(text, "%s by %s%s %.*s%s", what,
			report->query.difference ? "change of " : "", sort->heading,
			STR_ARG(metric), how);
	else
		text_title(text, "%s by %s%s", what, sort->key, how);
}

static void functions_view_draw(struct text *text, const struct report *report)
{
	struct table table;

	functions_view_title(text, report);
	table_init(&table, text, report);
	if (report->query.column_count)
		table_add_asked(&table);
	else
		flat_add_columns(report, &table, &flat_columns);
	table_draw(&table, NULL, NULL);
	table_deinit(&table);
	text_more_rows(text, report);
	text_report_notes(text, report);
}

static const enum column_id data_columns[] = {
	COLUMN_NAME,
	COLUMN_MODULE,
	COLUMN_FILE,
	COLUMN_LINE,
	COLUMN_EXCLUSIVE,
	COLUMN_INCLUSIVE,
	COLUMN_CALLS,
	COLUMN_EXCLUSIVE_MARGIN,
	COLUMN_INCLUSIVE_MARGIN,
	COLUMN_END,
};

static const enum column_id metric_columns[] = {
	COLUMN_EXCLUSIVE,
	COLUMN_INCLUSIVE,
	COLUMN_END,
};

static const enum column_id more_columns[] = {
	COLUMN_EXCLUSIVE_PERCENT,
	COLUMN_INCLUSIVE_PERCENT,
	COLUMN_EXCLUSIVE_CHANGE,
	COLUMN_INCLUSIVE_CHANGE,
	COLUMN_SIGNIFICANT,
	COLUMN_ADDRESS,
	COLUMN_ID,
	COLUMN_END,
};

const struct view view_functions = {
	.name = "functions",
	.summary = "each function's own time and that of what it calls",
	.data_columns = data_columns,
	.more_columns = more_columns,
	.metric_columns = metric_columns,
	.main_column = COLUMN_EXCLUSIVE,
	.joins_metrics = true,
	.sums_only = true,
	.has_column = functions_view_has_column,
	.has_levels = true,
	.sorts = true,
	.analyse = functions_view_analyse,
	.entity = functions_view_entity,
	.draw = functions_view_draw,
};

/* A view of functions at a fixed level. */
#define FLAT_VIEW(view_name, its_level, its_summary)                                               \
	{                                                                                          \
		.name = view_name, .summary = its_summary, .data_columns = data_columns,           \
		.more_columns = more_columns, .metric_columns = metric_columns,                    \
		.joins_metrics = true, .sums_only = true, .has_column = functions_view_has_column, \
		.sorts = true, .main_column = COLUMN_EXCLUSIVE, .level = its_level,                \
		.analyse = functions_view_analyse, .entity = functions_view_entity,                \
		.draw = functions_view_draw,                                                       \
	}

const struct view view_modules =
	FLAT_VIEW("modules", LEVEL_MODULE, "the same for each program file and library");
const struct view view_lines = FLAT_VIEW("lines", LEVEL_LINE, "the same for each source line");
const struct view view_threads = FLAT_VIEW("threads", LEVEL_THREAD, "how much each thread did");
