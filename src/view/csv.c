/*
 * CSV.  The columns are those of JSON, or those asked for.
 */
#include "view/csv.h"

#include <inttypes.h>

#include "base/escape.h"
#include "view/views.h"

static void add_text(struct strbuf *out, const struct cell *cell)
{
	struct strbuf scratch = {0};

	escape_csv(out, cell_text(cell, &scratch));
	strbuf_deinit(&scratch);
}

static void add_cell(struct strbuf *out, const struct column *column, const struct cell *cell)
{
	if (cell->is_null)
		return;
	switch (column->kind) {
	case COLUMN_KIND_TEXT:
		add_text(out, cell);
		break;
	case COLUMN_KIND_NUMBER:
	case COLUMN_KIND_TIME:
		strbuf_printf(out, "%" PRIu64, cell->number);
		break;
	case COLUMN_KIND_WEIGHT:
		strbuf_printf(out, "%" PRId64, cell->weight + cell->indirect);
		break;
	case COLUMN_KIND_PERCENT:
		if (cell->base != 0)
			strbuf_printf(out, "%.4f", cell_percent(cell));
		break;
	case COLUMN_KIND_MEAN:
		strbuf_printf(out, "%.4f", cell->mean);
		break;
	}
}

static size_t list_count(const enum column_id *ids)
{
	size_t count = 0;

	while (ids[count] != COLUMN_END)
		count++;
	return count;
}

void csv_draw(struct sink *sink, const struct report *report)
{
	const struct report_query *query = &report->query;
	const enum column_id *ids =
		query->column_count ? query->columns : query->view->data_columns;
	size_t count = query->column_count ? query->column_count : list_count(ids);

	for (size_t i = 0; i < count; i++)
		strbuf_printf(&sink->text, "%s%s", i ? "," : "", columns[ids[i]].key);
	strbuf_add(&sink->text, STR("\r\n"));
	for (size_t place = 0; place < report->count && sink_settle(sink); place++) {
		for (size_t i = 0; i < count; i++) {
			const struct column *column = &columns[ids[i]];
			struct cell cell = column->get(report, report_row(report, place));

			if (i)
				strbuf_add_char(&sink->text, ',');
			add_cell(&sink->text, column, &cell);
		}
		strbuf_add(&sink->text, STR("\r\n"));
	}
}
