/*
 * Callers and callees in the manner of Sun's Performance Analyzer: each centre stands between who
 * called it and what it called, with the part of its weight that each accounts for; below, the two
 * equations that these figures satisfy.
 */
#include "analysis/callers.h"

#include "base/escape.h"
#include "view/callers_rows.h"
#include "view/text/part_fold.h"
#include "view/text/table.h"
#include "view/text/text.h"
#include "view/text/units.h"
#include "view/views.h"

static void callers_view_analyse(struct report *report, struct arena *arena)
{
	const struct report_query *query = &report->query;

	report->functions = functions_analyse(report->tree, arena);
	report->callers = query->centre ? callers_analyse(report->tree, query->centre, arena)
					: callers_analyse_first(report->tree, report->functions,
						  query->sort ? 0 : query->limit, arena);
	report->callers_rows = callers_rows_create(report, arena);
	report->row_count = report->callers->count + report->callers->line_count;
	report->left_out = report->callers->left_out;
	if (report->functions->bound_count)
		report_note(report,
			"in recursion through several functions calls' costs overlap: figures "
			"there "
			"are shares of a bound",
			arena);
}

/* Narrower terminals show percentages only, and then no modules, to leave room for names. */
#define WEIGHTS_WIDTH_MIN 88u
#define MODULE_WIDTH_MIN  72u

/* Additional width for each further metric. */
#define WEIGHTS_WIDTH_MORE 54u
#define PERCENT_WIDTH_MORE 36u

static void add_figures(struct table *table, size_t m, bool weights, bool percent)
{
	static const enum column_id figures[][3] = {
		{COLUMN_ATTRIBUTED, COLUMN_ATTRIBUTED_PERCENT, COLUMN_ATTRIBUTED_MARGIN},
		{COLUMN_EXCLUSIVE, COLUMN_EXCLUSIVE_PERCENT, COLUMN_EXCLUSIVE_MARGIN},
		{COLUMN_INCLUSIVE, COLUMN_INCLUSIVE_PERCENT, COLUMN_INCLUSIVE_MARGIN},
	};

	for (size_t i = 0; i < ARRAY_SIZE(figures); i++) {
		if (weights)
			table_add_of(table, m, figures[i][0]);
		if (percent)
			table_add_of(table, m, figures[i][1]);
		if (table->report->margins && m == 0)
			table_add(table, figures[i][2]);
	}
}

/* The width needed for the exclusive and inclusive figures next to the attributed one. */
#define DIFFERENCE_WIDTH_MIN 96u

/*
 * The change of the attributed figure, with its old and new values; and the changes of the named
 * functions.
 */
static void callers_view_difference(const struct report *report, struct table *table)
{
	bool is_wide = !text_is_narrower(table->text, DIFFERENCE_WIDTH_MIN);

	table_add(table, COLUMN_ATTRIBUTED);
	table_add(table, COLUMN_ATTRIBUTED_CHANGE);
	table_add_of(table, 1, COLUMN_ATTRIBUTED);
	table_add_of(table, 2, COLUMN_ATTRIBUTED);
	if (is_wide) {
		table_add(table, COLUMN_EXCLUSIVE);
		table_add(table, COLUMN_INCLUSIVE);
		table_add(table, COLUMN_INCLUSIVE_CHANGE);
	}
	if (is_wide && level_has_modules(report->query.level))
		table_add(table, COLUMN_MODULE);
	table_add(table, COLUMN_NAME);
}

static void callers_view_columns(const struct report *report, struct table *table)
{
	bool percent = report->query.percent != PERCENT_RAW;
	size_t others = report->query.other_count;
	bool weights = !percent || !text_is_narrower(table->text,
					   WEIGHTS_WIDTH_MIN + WEIGHTS_WIDTH_MORE * others);

	for (size_t m = 0; m <= others; m++)
		add_figures(table, m, weights, percent);
	if (level_has_modules(report->query.level) &&
		!text_is_narrower(table->text, MODULE_WIDTH_MIN + PERCENT_WIDTH_MORE * others))
		table_add(table, COLUMN_MODULE);
	table_add(table, COLUMN_NAME);
}

/* The centre stands out, and its callers and callees are indented. */
static void callers_view_label(void *context, size_t place, struct table_label *label)
{
	const struct part_fold *fold = context;
	const struct report *drawn = &fold->drawn;
	size_t row = report_row(drawn, place);
	const struct callers_line *line = callers_rows_line(drawn, row);

	label->begins =
		place > 0 && callers_rows_centre(drawn, row) !=
				     callers_rows_centre(drawn, report_row(drawn, place - 1));
	label->is_main = line == NULL;
	strbuf_add(&label->before, line ? STR("    ") : STR("* "));
	if (line && line->is_recursive)
		strbuf_add(&label->after, STR("  recursive"));
	label->is_aside_above = part_fold_put(fold, place, &label->aside);
	if (fold->rests[place].count && fold->rests[place].empty == fold->rests[place].count)
		strbuf_add(&label->aside, STR(", recursive"));
}

static int64_t callers_view_weight(const struct report *report, size_t row)
{
	return callers_rows_line(report, row)->attributed;
}

static bool callers_view_is_empty(const struct report *report, size_t row)
{
	return callers_rows_line(report, row)->is_recursive;
}

static void callers_view_title(struct text *text, const struct report *report)
{
	const struct column *sort = report->query.sort;
	struct strbuf scratch = {0};

	if (report->query.centre)
		text_title(text, "Callers and callees of %.*s",
			STR_ARG(entity_label_apart(&report->query.centre->entity, &scratch)));
	else
		text_title(text, "Callers and callees of all, by %s%s",
			report->query.difference ? "change of " : "",
			sort ? sort->key : columns[COLUMN_EXCLUSIVE].key);
	strbuf_deinit(&scratch);
}

static void figure_put(struct strbuf *out, const char *what, int64_t figure)
{
	strbuf_printf(out, "%s %s", what, figure < 0 ? "-" : "");
	number_put(out, figure < 0 ? -(uint64_t)figure : (uint64_t)figure);
}

/* "callers 25 = inclusive 25 = exclusive 5 + callees 20", exact, in the metric's unit. */
static void draw_equations_of(
	struct strbuf *out, const struct report *report, const struct callers_row *row)
{
	struct metric metric = report_metric(report);
	struct str unit = profile_string(report->profile, metric.unit);

	if (!str_equal(unit, STR("count"))) {
		strbuf_add(out, STR("in "));
		escape_text(out, unit);
		strbuf_add(out, STR(": "));
	}
	figure_put(out, "callers", callers_sum_callers(report->callers, row));
	figure_put(out, " = inclusive", row->inclusive);
	figure_put(out, " = exclusive", row->exclusive);
	figure_put(out, " + callees", callers_sum_callees(report->callers, row));
	strbuf_add_char(out, '\n');
}

/* For a single centre with its figures; for several, only whether they hold. */
static void draw_equations(struct text *text, const struct report *report)
{
	struct strbuf *out = &text->sink->text;
	bool holds = callers_check(report->callers);

	text_ink(text, INK_DIM);
	if (report->callers->centre) {
		for (size_t m = 0; m <= report->query.other_count; m++) {
			const struct report *of = report_of_metric(report, m);
			if (report->query.other_count > 0) {
				escape_text(
					out, profile_string(of->profile, report_metric(of).name));
				strbuf_add_char(out, ' ');
			}
			draw_equations_of(out, of, &of->callers->rows[0]);
		}
	} else {
		strbuf_printf(out,
			"for each *: sum of callers = inclusive = exclusive + sum of callees%s\n",
			holds ? ", exactly" : " DOES NOT HOLD");
	}
	text_ink(text, INK_PLAIN);
}

static bool shows_recursion(const struct report *report)
{
	for (size_t place = 0; place < report->count; place++) {
		const struct callers_line *line =
			callers_rows_line(report, report_row(report, place));
		if (line && line->is_recursive)
			return true;
	}
	return false;
}

/* What is not drawn; a single centre is always drawn, so only its lines can be left out. */
static void callers_view_more(
	struct text *text, const struct report *report, const struct part_fold *fold)
{
	if (fold->left_out == 0 || report->entry_count > report->entries_shown ||
		text->lines != NULL) {
		text_more_rows(text, report);
		return;
	}
	text_ink(text, INK_DIM);
	strbuf_add(&text->sink->text, STR("--limit 0 shows all callers and callees\n"));
	text_ink(text, INK_PLAIN);
}

static void callers_view_draw(struct text *text, const struct report *report)
{
	struct part_fold fold;
	struct table table;

	part_fold_init(&fold, report, callers_view_weight, callers_view_is_empty);
	callers_view_title(text, report);
	table_init(&table, text, &fold.drawn);
	if (report->query.column_count)
		table_add_asked(&table);
	else if (report->query.difference)
		callers_view_difference(report, &table);
	else
		callers_view_columns(report, &table);
	table_draw(&table, callers_view_label, &fold);
	table_deinit(&table);
	callers_view_more(text, report, &fold);
	part_fold_deinit(&fold);
	if (report->count == 0)
		return;
	strbuf_add_char(&text->sink->text, '\n');
	draw_equations(text, report);
	text_report_notes(text, report);
	if (shows_recursion(report) && report->profile->has_stacks)
		text_note(
			text, STR("recursive calls lead to another call of * further in. A stack "
				  "counts at its innermost * alone, so they have no weight here."));
}

static const enum column_id data_columns[] = {
	COLUMN_ENTRY,
	COLUMN_PART,
	COLUMN_NAME,
	COLUMN_MODULE,
	COLUMN_ATTRIBUTED,
	COLUMN_IS_RECURSIVE,
	COLUMN_EXCLUSIVE,
	COLUMN_INCLUSIVE,
	COLUMN_ATTRIBUTED_MARGIN,
	COLUMN_EXCLUSIVE_MARGIN,
	COLUMN_INCLUSIVE_MARGIN,
	COLUMN_END,
};

static const enum column_id metric_columns[] = {
	COLUMN_ATTRIBUTED, COLUMN_EXCLUSIVE, COLUMN_INCLUSIVE, COLUMN_END};

static const enum column_id more_columns[] = {
	COLUMN_ATTRIBUTED_PERCENT,
	COLUMN_EXCLUSIVE_PERCENT,
	COLUMN_INCLUSIVE_PERCENT,
	COLUMN_ATTRIBUTED_CHANGE,
	COLUMN_EXCLUSIVE_CHANGE,
	COLUMN_INCLUSIVE_CHANGE,
	COLUMN_SIGNIFICANT,
	COLUMN_FILE,
	COLUMN_LINE,
	COLUMN_ADDRESS,
	COLUMN_ID,
	COLUMN_END,
};

static const enum column_id own_columns[] = {COLUMN_NAME, COLUMN_MODULE, COLUMN_EXCLUSIVE,
	COLUMN_INCLUSIVE, COLUMN_EXCLUSIVE_MARGIN, COLUMN_INCLUSIVE_MARGIN, COLUMN_END};
static const enum column_id own_metric_columns[] = {COLUMN_EXCLUSIVE, COLUMN_INCLUSIVE, COLUMN_END};
static const enum column_id line_columns[] = {COLUMN_NAME, COLUMN_MODULE, COLUMN_ATTRIBUTED,
	COLUMN_IS_RECURSIVE, COLUMN_ATTRIBUTED_MARGIN, COLUMN_END};
static const enum column_id line_metric_columns[] = {COLUMN_ATTRIBUTED, COLUMN_END};

static const struct view_part parts[CALLERS_PARTS] = {
	[CALLERS_OWN] = {NULL, own_columns, own_metric_columns, COLUMN_EXCLUSIVE, false},
	[CALLERS_CALLERS] = {"callers", line_columns, line_metric_columns, COLUMN_ATTRIBUTED,
		false},
	[CALLERS_CALLEES] = {"callees", line_columns, line_metric_columns, COLUMN_ATTRIBUTED,
		false},
};

const struct view view_callers = {
	.name = "callers",
	.summary = "who called each function, what it called, and how much on whose behalf",
	.data_columns = data_columns,
	.more_columns = more_columns,
	.metric_columns = metric_columns,
	.parts = parts,
	.part_count = CALLERS_PARTS,
	.part = callers_rows_part,
	.main_column = COLUMN_EXCLUSIVE,
	.joins_metrics = true,
	.needs_stacks = true,
	.takes_costs = true,
	.has_parents = true,
	.has_levels = true,
	.sorts = true,
	.analyse = callers_view_analyse,
	.entity = callers_rows_entity,
	.line_entity = callers_rows_line_entity,
	.draw = callers_view_draw,
};
