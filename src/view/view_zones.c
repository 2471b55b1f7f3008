/*
 * Zones: functions at the level of zones, with how often each was entered and what it took in a
 * tick, on average and at the worst.
 */
#include "analysis/zones.h"

#include "analysis/ticks.h"
#include "base/escape.h"
#include "view/text/table.h"
#include "view/text/text.h"
#include "view/text/units.h"
#include "view/views.h"

static void zones_view_analyse(struct report *report, struct arena *arena)
{
	size_t count;
	const metric_id *metrics =
		report_tree_metrics(report->profile, &report->query, arena, &count);
	size_t entries = SIZE_MAX;
	metric_id counting;

	if (profile_find_metric(report->profile, STR(ZONE_ENTRIES), &counting))
		for (size_t i = 0; i < count; i++)
			if (metrics[i].i == counting.i)
				entries = i;
	report->functions = functions_analyse(report->tree, arena);
	report->zones =
		zones_analyse(report->selection, report->functions, metrics, entries, arena);
	report->row_count = report->functions->count;
}

static const struct entity *zones_view_entity(const struct report *report, size_t row)
{
	return entity_tree_entity(report->tree, report->functions->rows[row].entity);
}

static void zones_view_title(struct text *text, const struct report *report)
{
	const struct zones *zones = report->zones;
	const struct column *sort = report->query.sort;
	struct str metric = profile_string(report->profile, report_metric(report).name);
	struct strbuf ticks = {0};

	if (zones->tick_count > 0 && report->query.difference == NULL) {
		strbuf_add(&ticks, STR("; over "));
		number_put(&ticks, zones->tick_count);
		strbuf_add(&ticks, zones->tick_count == 1 ? STR(" tick") : STR(" ticks"));
		if (zones->stream.data) {
			strbuf_add(&ticks, STR(" of "));
			escape_text(&ticks, zones->stream);
		}
	}
	text_title(text, "Zones by %s%s %.*s%.*s", report->query.difference ? "change of " : "",
		sort ? sort->key : "exclusive", STR_ARG(metric), STR_ARG(strbuf_str(&ticks)));
	strbuf_deinit(&ticks);
}

/*
 * Narrower terminals have no percentages and only two figures of ticks, then none, then no entries.
 */
#define PERCENT_WIDTH_MIN 92u
#define TICKS_WIDTH_MIN	  72u
#define ENTRIES_WIDTH_MIN 50u
/* Additional width for each further metric. */
#define WIDTH_MORE 36u

static void add_figures(const struct report *report, struct table *table)
{
	size_t others = report->query.other_count;
	bool is_wide = !text_is_narrower(table->text, PERCENT_WIDTH_MIN + WIDTH_MORE * others);
	bool percent = is_wide && report->query.percent != PERCENT_RAW;

	for (size_t m = 0; m <= others; m++) {
		table_add_of(table, m, COLUMN_EXCLUSIVE);
		if (percent)
			table_add_of(table, m, COLUMN_EXCLUSIVE_PERCENT);
		table_add_of(table, m, COLUMN_INCLUSIVE);
		if (percent)
			table_add_of(table, m, COLUMN_INCLUSIVE_PERCENT);
	}
	if (report->zones->knows_entries &&
		!text_is_narrower(table->text, ENTRIES_WIDTH_MIN + WIDTH_MORE * others))
		table_add(table, COLUMN_ENTRIES);
	if (report->zones->tick_count == 0 ||
		text_is_narrower(table->text, TICKS_WIDTH_MIN + WIDTH_MORE * others))
		return;
	table_add(table, COLUMN_INCLUSIVE_PER_TICK);
	if (is_wide)
		table_add(table, COLUMN_INCLUSIVE_P95);
	table_add(table, COLUMN_INCLUSIVE_MAX);
	if (is_wide)
		table_add(table, COLUMN_SLOWEST_TICK);
}

/* The change, and what it was and is. */
static void add_difference(struct table *table)
{
	table_add(table, COLUMN_EXCLUSIVE);
	table_add(table, COLUMN_EXCLUSIVE_CHANGE);
	table_add_of(table, 1, COLUMN_EXCLUSIVE);
	table_add_of(table, 2, COLUMN_EXCLUSIVE);
	if (text_is_narrower(table->text, TICKS_WIDTH_MIN))
		return;
	table_add(table, COLUMN_INCLUSIVE);
	table_add(table, COLUMN_INCLUSIVE_CHANGE);
	table_add(table, COLUMN_ENTRIES);
}

/* The last row, in no order and no share. */
static void draw_frameless(struct text *text, const struct report *report, size_t figures_width)
{
	const struct zones_frameless *frameless = report->query.frameless;
	struct strbuf *out = &text->sink->text, figure = {0};

	if (frameless == NULL ||
		!str_equal(profile_string(report->profile, report_metric(report).name),
			STR(ZONE_TIME)))
		return;
	scale_put(&figure, report_scale(report), frameless->weight);
	text_ink(text, INK_DIM);
	strbuf_add(out, strbuf_str(&figure));
	for (size_t i = figure.size; i < figures_width || i < figure.size + 2; i++)
		strbuf_add_char(out, ' ');
	strbuf_printf(out, "[%zu thread%s without frames, outside zones]\n", frameless->threads,
		frameless->threads == 1 ? "" : "s");
	text_ink(text, INK_PLAIN);
	strbuf_deinit(&figure);
}

static void zones_view_draw(struct text *text, const struct report *report)
{
	struct table table;

	zones_view_title(text, report);
	table_init(&table, text, report);
	if (report->query.column_count) {
		table_add_asked(&table);
	} else {
		if (report->query.difference)
			add_difference(&table);
		else
			add_figures(report, &table);
		table_add(&table, COLUMN_NAME);
	}
	table_draw(&table, NULL, NULL);
	draw_frameless(text, report, report->count ? table_figures_width(&table) : 0);
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
	COLUMN_ENTRIES,
	COLUMN_ZONE_DEPTH_MAX,
	COLUMN_TICKS,
	COLUMN_EXCLUSIVE_PER_TICK,
	COLUMN_INCLUSIVE_PER_TICK,
	COLUMN_ENTRIES_PER_TICK,
	COLUMN_SLOWEST_TICK,
	COLUMN_END,
};

static const enum column_id metric_columns[] = {
	COLUMN_EXCLUSIVE,
	COLUMN_INCLUSIVE,
	COLUMN_EXCLUSIVE_PER_TICK,
	COLUMN_INCLUSIVE_PER_TICK,
	COLUMN_END,
};

static const enum column_id more_columns[] = {
	COLUMN_EXCLUSIVE_PERCENT,
	COLUMN_INCLUSIVE_PERCENT,
	COLUMN_EXCLUSIVE_CHANGE,
	COLUMN_INCLUSIVE_CHANGE,
	COLUMN_SIGNIFICANT,
	COLUMN_EXCLUSIVE_MEDIAN,
	COLUMN_EXCLUSIVE_P95,
	COLUMN_EXCLUSIVE_MAX,
	COLUMN_INCLUSIVE_MEDIAN,
	COLUMN_INCLUSIVE_P95,
	COLUMN_INCLUSIVE_MAX,
	COLUMN_ID,
	COLUMN_END,
};

const struct view view_zones = {
	.name = "zones",
	.summary = "each zone of a program that has them, its entries, and what it took in a tick",
	.data_columns = data_columns,
	.more_columns = more_columns,
	.metric_columns = metric_columns,
	.main_column = COLUMN_EXCLUSIVE,
	.joins_metrics = true,
	.adds_entries = true,
	.own_metric = ZONE_TIME,
	.sorts = true,
	.level = LEVEL_ZONE,
	.analyse = zones_view_analyse,
	.entity = zones_view_entity,
	.draw = zones_view_draw,
};
