/*
 * Chooses a flat view's columns by the terminal's width and the number of metrics.
 */
#include "view/text/flat.h"

#include "analysis/functions.h"
#include "view/text/text.h"
#include "view/views.h"

/* Narrower terminals show percentages only, and then no modules, to leave room for names. */
#define WEIGHTS_WIDTH_MIN 72u
#define MODULE_WIDTH_MIN  56u

/* Additional width for each further metric. */
#define WEIGHTS_WIDTH_MORE 36u
#define PERCENT_WIDTH_MORE 24u

/* The change, its base, the old and new figures; then the same for called functions, shorter. */
static void add_difference(
	const struct report *report, struct table *table, const struct flat_columns *c)
{
	table_add(table, c->own);
	table_add(table, c->own_change);
	table_add_of(table, 1, c->own);
	table_add_of(table, 2, c->own);
	if (!text_is_narrower(table->text, WEIGHTS_WIDTH_MIN)) {
		table_add(table, c->all);
		table_add(table, c->all_change);
	}
	if (level_has_modules(report->query.level) &&
		!text_is_narrower(table->text, WEIGHTS_WIDTH_MIN))
		table_add(table, COLUMN_MODULE);
	table_add(table, COLUMN_NAME);
}

static void add_figures(
	const struct report *report, struct table *table, const struct flat_columns *c)
{
	bool percent = report->query.percent != PERCENT_RAW;
	size_t others = report->query.other_count;
	bool weights = !percent || !text_is_narrower(table->text,
					   WEIGHTS_WIDTH_MIN + WEIGHTS_WIDTH_MORE * others);

	for (size_t m = 0; m <= others; m++) {
		if (weights)
			table_add_of(table, m, c->own);
		if (percent)
			table_add_of(table, m, c->own_percent);
		if (report->margins && m == 0)
			table_add(table, c->own_margin);
		if (weights)
			table_add_of(table, m, c->all);
		if (percent)
			table_add_of(table, m, c->all_percent);
		if (report->margins && m == 0)
			table_add(table, c->all_margin);
	}
	if (report->functions->has_calls && weights)
		table_add(table, COLUMN_CALLS);
	if (level_has_modules(report->query.level) &&
		!text_is_narrower(table->text, MODULE_WIDTH_MIN + PERCENT_WIDTH_MORE * others))
		table_add(table, COLUMN_MODULE);
	table_add(table, COLUMN_NAME);
}

void flat_add_columns(
	const struct report *report, struct table *table, const struct flat_columns *c)
{
	if (report->query.difference)
		add_difference(report, table, c);
	else
		add_figures(report, table, c);
}
