/*
 * One function's source lines and instructions.  --view cannot name it, because it needs a function
 * and the listing of its code: `sonde annotate` puts both into the query.
 */
#include "analysis/listing.h"

#include "view/text/listing_text.h"
#include "view/views.h"

static void annotate_view_analyse(struct report *report, struct arena *arena)
{
	(void)arena;
	report->listing = report->query.listing;
	report->annotation = report->listing->annotation;
	report->row_count = report->listing->row_count;
}

static void annotate_view_select(struct report *report, struct arena *arena)
{
	uint32_t *rows = ARENA_ARRAY(arena, uint32_t, report->row_count);

	report->count = listing_select(report->listing, report->query.limit, rows);
	report->rows = rows;
}

static const enum column_id data_columns[] = {
	COLUMN_LISTING_KIND,
	COLUMN_LISTING_FILE,
	COLUMN_LISTING_LINE,
	COLUMN_LISTING_ADDRESS,
	COLUMN_LISTING_FUNCTION,
	COLUMN_LISTING_DEPTH,
	COLUMN_LISTING_TEXT,
	COLUMN_LISTING_EXCLUSIVE,
	COLUMN_LISTING_INCLUSIVE,
	COLUMN_LISTING_EXCLUSIVE_MARGIN,
	COLUMN_LISTING_INCLUSIVE_MARGIN,
	COLUMN_END,
};

static const enum column_id metric_columns[] = {
	COLUMN_LISTING_EXCLUSIVE,
	COLUMN_LISTING_INCLUSIVE,
	COLUMN_END,
};

static const enum column_id more_columns[] = {
	COLUMN_LISTING_EXCLUSIVE_PERCENT,
	COLUMN_LISTING_INCLUSIVE_PERCENT,
	COLUMN_END,
};

const struct view view_annotate = {
	.name = "annotate",
	.summary = "one function's lines and instructions",
	.data_columns = data_columns,
	.more_columns = more_columns,
	.metric_columns = metric_columns,
	.analyse = annotate_view_analyse,
	.select = annotate_view_select,
	.draw = listing_text_draw,
};
