/*
 * The flat views: every function, with its exclusive and inclusive weight.  modules, lines and
 * threads are functions at another level and nothing else.
 */
#include "analysis/functions.h"

#include "view/text/table.h"
#include "view/text/text.h"
#include "view/views.h"

static void functions_view_analyse(struct report *report, struct arena *arena)
{
	report->functions = functions_analyse(report->tree, arena);
	report->row_count = report->functions->count;
}

static bool functions_view_has_column(const struct report *report, enum column_id id)
{
	return id != COLUMN_CALLS || report->functions->has_calls;
}

static const struct entity *functions_view_entity(const struct report *report, size_t row)
{
	return entity_tree_entity(report->tree, report->functions->rows[row].entity);
}

/* Narrower terminals show percentages only, and then no modules, to leave room for names. */
#define WEIGHTS_WIDTH_MIN 72u
#define MODULE_WIDTH_MIN  56u

/* So much more for each further metric. */
#define WEIGHTS_WIDTH_MORE 36u
#define PERCENT_WIDTH_MORE 24u

/* The change, of what, and from what to what; then the same of what was called, shorter. */
static void functions_view_difference(const struct report *report, struct table *table)
{
	table_add(table, COLUMN_EXCLUSIVE);
	table_add(table, COLUMN_EXCLUSIVE_CHANGE);
	table_add_of(table, 1, COLUMN_EXCLUSIVE);
	table_add_of(table, 2, COLUMN_EXCLUSIVE);
	if (!text_is_narrower(table->text, WEIGHTS_WIDTH_MIN)) {
		table_add(table, COLUMN_INCLUSIVE);
		table_add(table, COLUMN_INCLUSIVE_CHANGE);
	}
	if (level_has_modules(report->query.level) &&
		!text_is_narrower(table->text, WEIGHTS_WIDTH_MIN))
		table_add(table, COLUMN_MODULE);
	table_add(table, COLUMN_NAME);
}

static void functions_view_columns(const struct report *report, struct table *table)
{
	bool percent = report->query.percent != PERCENT_RAW;
	size_t others = report->query.other_count;
	bool weights = !percent || !text_is_narrower(table->text,
					   WEIGHTS_WIDTH_MIN + WEIGHTS_WIDTH_MORE * others);

	for (size_t m = 0; m <= others; m++) {
		if (weights)
			table_add_of(table, m, COLUMN_EXCLUSIVE);
		if (percent)
			table_add_of(table, m, COLUMN_EXCLUSIVE_PERCENT);
		if (weights)
			table_add_of(table, m, COLUMN_INCLUSIVE);
		if (percent)
			table_add_of(table, m, COLUMN_INCLUSIVE_PERCENT);
	}
	if (report->functions->has_calls && weights)
		table_add(table, COLUMN_CALLS);
	if (level_has_modules(report->query.level) &&
		!text_is_narrower(table->text, MODULE_WIDTH_MIN + PERCENT_WIDTH_MORE * others))
		table_add(table, COLUMN_MODULE);
	table_add(table, COLUMN_NAME);
}

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
	};
	const char *what = titles[report->query.level];
	const char *how = report->functions->is_estimated ? ", inclusive estimated" : "";
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
	else if (report->query.difference)
		functions_view_difference(report, &table);
	else
		functions_view_columns(report, &table);
	table_draw(&table, NULL, NULL);
	table_deinit(&table);
	text_more_rows(text, report);
}

static const enum column_id data_columns[] = {
	COLUMN_NAME,
	COLUMN_MODULE,
	COLUMN_FILE,
	COLUMN_LINE,
	COLUMN_EXCLUSIVE,
	COLUMN_INCLUSIVE,
	COLUMN_CALLS,
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
	.has_column = functions_view_has_column,
	.has_levels = true,
	.sorts = true,
	.analyse = functions_view_analyse,
	.entity = functions_view_entity,
	.draw = functions_view_draw,
};

/* Functions at a level of their own. */
#define FLAT_VIEW(view_name, its_level, its_summary)                                               \
	{                                                                                          \
		.name = view_name, .summary = its_summary, .data_columns = data_columns,           \
		.more_columns = more_columns, .metric_columns = metric_columns,                    \
		.joins_metrics = true, .has_column = functions_view_has_column, .sorts = true,     \
		.main_column = COLUMN_EXCLUSIVE, .level = its_level,                               \
		.analyse = functions_view_analyse, .entity = functions_view_entity,                \
		.draw = functions_view_draw,                                                       \
	}

const struct view view_modules =
	FLAT_VIEW("modules", LEVEL_MODULE, "the same for each program file and library");
const struct view view_lines = FLAT_VIEW("lines", LEVEL_LINE, "the same for each source line");
const struct view view_threads = FLAT_VIEW("threads", LEVEL_THREAD, "how much each thread did");
