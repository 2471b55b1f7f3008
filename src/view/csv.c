/*
 * CSV.  The columns are those of JSON, or the requested ones, followed by those of further metrics.
 */
#include "view/csv.h"

#include <inttypes.h>

#include "base/escape.h"
#include "base/vec.h"
#include "view/difference.h"
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
	case COLUMN_KIND_COUNT:
	case COLUMN_KIND_WEIGHT:
		strbuf_printf(out, "%" PRId64, cell->weight + cell->indirect);
		break;
	case COLUMN_KIND_PERCENT:
	case COLUMN_KIND_CHANGE:
		if (cell->base != 0)
			strbuf_printf(out, "%.4f", cell_percent(cell));
		break;
	case COLUMN_KIND_FLAG:
		strbuf_add(out, cell->flag ? STR("true") : STR("false"));
		break;
	case COLUMN_KIND_CALLS:
		cell_calls_put(out, cell);
		break;
	case COLUMN_KIND_MEAN:
		strbuf_printf(out, "%.4f", cell->mean);
		break;
	}
}

/* One column of the file, of one metric. */
struct csv_column {
	const struct column *column;
	const struct report *report;
};

struct csv_columns {
	VEC(struct csv_column) list;
};

static void add_columns(
	struct csv_columns *c, const struct report *report, const enum column_id *ids)
{
	for (; *ids != COLUMN_END; ids++)
		if (view_shows_column(report, *ids))
			vec_push(&c->list, (struct csv_column){&columns[*ids], report});
}

/* The requested columns; for further metrics only those that differ between metrics. */
static void add_asked(struct csv_columns *c, const struct report *report, bool is_first)
{
	const struct report_query *query = &report->query;

	for (size_t i = 0; i < query->column_count; i++)
		if (is_first || columns[query->columns[i]].is_per_metric)
			vec_push(
				&c->list, (struct csv_column){&columns[query->columns[i]], report});
}

static void add_place_columns(struct csv_columns *c, const struct report *report)
{
	for (const enum column_id *id = level_columns(report->query.level); *id != COLUMN_END; id++)
		if (!column_list_has(report->query.view->data_columns, *id))
			vec_push(&c->list, (struct csv_column){&columns[*id], report});
}

static void choose_columns(struct csv_columns *c, const struct report *report)
{
	const struct report_query *query = &report->query;
	const struct view *view = query->view;

	for (size_t m = 0; m <= query->other_count; m++) {
		const struct report *of = report_of_metric(report, m);

		if (query->column_count)
			add_asked(c, of, m == 0);
		else
			add_columns(c, of, m ? view->metric_columns : view->data_columns);
		if (m == 0 && query->column_count == 0)
			add_place_columns(c, report);
	}
}

/* The prefix of the names of another metric's columns: "page-faults.", "old.". */
static struct str prefix_of(const struct report *report, const struct report *of)
{
	if (report->query.difference)
		return of == report->others[DIFFERENCE_OLD] ? STR("old") : STR("new");
	return profile_string(report->profile, report_metric(of).name);
}

static void add_header(struct strbuf *out, const struct report *report, const struct csv_column *c)
{
	struct strbuf name = {0};

	if (c->report != report) {
		strbuf_add(&name, prefix_of(report, c->report));
		strbuf_add_char(&name, '.');
	}
	strbuf_add(&name, str_from(c->column->key));
	escape_csv(out, strbuf_str(&name));
	strbuf_deinit(&name);
}

static void add_row(struct strbuf *out, const struct csv_columns *c, size_t row)
{
	for (size_t i = 0; i < c->list.count; i++) {
		const struct csv_column *item = &c->list.data[i];
		struct cell cell = item->column->get(item->report, row);

		if (i)
			strbuf_add_char(out, ',');
		add_cell(out, item->column, &cell);
	}
	strbuf_add(out, STR("\r\n"));
}

void csv_draw(struct sink *sink, const struct report *report)
{
	struct csv_columns c = {0};

	choose_columns(&c, report);
	for (size_t i = 0; i < c.list.count; i++) {
		if (i)
			strbuf_add_char(&sink->text, ',');
		add_header(&sink->text, report, &c.list.data[i]);
	}
	strbuf_add(&sink->text, STR("\r\n"));
	for (size_t place = 0; place < report->count && sink_settle(sink); place++)
		add_row(&sink->text, &c, report_row(report, place));
	vec_deinit(&c.list);
}
