/*
 * JSON (RFC 8259), written as it goes, one row a line: a report of a million rows takes no more
 * memory than one of ten, and line tools can still look at it.
 */
#include "view/json.h"

#include <inttypes.h>

#include "base/escape.h"
#include "view/views.h"

static void add_string(struct strbuf *out, struct str s)
{
	strbuf_add_char(out, '"');
	escape_json(out, s);
	strbuf_add_char(out, '"');
}

static void add_key(struct strbuf *out, const char *key)
{
	add_string(out, str_from(key));
	strbuf_add(out, STR(": "));
}

static void add_signed(struct strbuf *out, int64_t value)
{
	strbuf_printf(out, "%" PRId64, value);
}

static void add_unsigned(struct strbuf *out, uint64_t value)
{
	strbuf_printf(out, "%" PRIu64, value);
}

static void add_text(struct strbuf *out, const struct cell *cell)
{
	struct strbuf scratch = {0};

	add_string(out, cell_text(cell, &scratch));
	strbuf_deinit(&scratch);
}

/* Percentages are null where there is nothing to take them of. */
static void add_percent(struct strbuf *out, const struct cell *cell)
{
	if (cell->base == 0)
		strbuf_add(out, STR("null"));
	else
		strbuf_printf(out, "%.4f", cell_percent(cell));
}

static void add_cell(struct strbuf *out, const struct column *column, const struct cell *cell)
{
	if (cell->is_null) {
		strbuf_add(out, STR("null"));
		return;
	}
	switch (column->kind) {
	case COLUMN_KIND_TEXT:
		add_text(out, cell);
		break;
	case COLUMN_KIND_NUMBER:
	case COLUMN_KIND_TIME:
		add_unsigned(out, cell->number);
		break;
	case COLUMN_KIND_WEIGHT:
		add_signed(out, cell->weight + cell->indirect);
		break;
	case COLUMN_KIND_PERCENT:
		add_percent(out, cell);
		break;
	case COLUMN_KIND_MEAN:
		strbuf_printf(out, "%.4f", cell->mean);
		break;
	}
}

static void add_member(
	struct strbuf *out, const struct report *report, size_t row, enum column_id id)
{
	struct cell cell = columns[id].get(report, row);

	strbuf_add(out, out->data[out->size - 1] == '{' ? STR("") : STR(", "));
	add_key(out, columns[id].key);
	add_cell(out, &columns[id], &cell);
}

/* Each metric's own figures, the first one's again. */
static void add_row_metrics(struct strbuf *out, const struct report *report, size_t row)
{
	const struct report_query *query = &report->query;

	strbuf_add(out, STR(", "));
	add_key(out, "metrics");
	for (size_t m = 0; m <= query->other_count; m++) {
		const struct report *of = report_of_metric(report, m);

		strbuf_add(out, m ? STR(", {") : STR("[{"));
		for (const enum column_id *id = query->view->metric_columns; *id != COLUMN_END;
			id++)
			add_member(out, of, row, *id);
		for (size_t i = 0; i < query->column_count; i++)
			if (columns[query->columns[i]].is_per_metric &&
				!column_list_has(query->view->metric_columns, query->columns[i]))
				add_member(out, of, row, query->columns[i]);
		strbuf_add_char(out, '}');
	}
	strbuf_add_char(out, ']');
}

/* A row has the view's keys always, and behind them what else was asked for. */
static void add_row(struct strbuf *out, const struct report *report, size_t row)
{
	const struct report_query *query = &report->query;

	strbuf_add_char(out, '{');
	for (const enum column_id *id = query->view->data_columns; *id != COLUMN_END; id++)
		add_member(out, report, row, *id);
	for (size_t i = 0; i < query->column_count; i++)
		if (!column_list_has(query->view->data_columns, query->columns[i]))
			add_member(out, report, row, query->columns[i]);
	if (query->other_count > 0)
		add_row_metrics(out, report, row);
	strbuf_add_char(out, '}');
}

static void add_note(struct strbuf *out, const struct profile *profile, const struct note *note)
{
	strbuf_add_char(out, '{');
	add_key(out, "kind");
	add_string(out, str_from(note_kind_names[note->kind]));
	strbuf_add(out, STR(", "));
	add_key(out, "count");
	add_unsigned(out, note->count);
	strbuf_add(out, STR(", "));
	add_key(out, "text");
	add_string(out, profile_string(profile, note->text));
	strbuf_add_char(out, '}');
}

static void add_notes(struct strbuf *out, const struct profile *profile)
{
	strbuf_add_char(out, '[');
	for (size_t i = 0; i < profile->note_count; i++) {
		if (i)
			strbuf_add(out, STR(", "));
		add_note(out, profile, &profile->notes[i]);
	}
	strbuf_add_char(out, ']');
}

/* The members of a metric's object. */
static void add_metric(struct strbuf *out, const struct report *report)
{
	struct metric metric = report_metric(report);

	add_key(out, "name");
	add_string(out, profile_string(report->profile, metric.name));
	strbuf_add(out, STR(", "));
	add_key(out, "unit");
	add_string(out, profile_string(report->profile, metric.unit));
}

static void add_total(struct strbuf *out, const struct report *report)
{
	strbuf_add(out, STR(", "));
	add_key(out, "total");
	add_signed(out, report->profile->total[report->query.metric.i]);
}

static void add_metrics(struct strbuf *out, const struct report *report)
{
	add_key(out, "metrics");
	for (size_t m = 0; m <= report->query.other_count; m++) {
		strbuf_add(out, m ? STR(", {") : STR("[{"));
		add_metric(out, report_of_metric(report, m));
		add_total(out, report_of_metric(report, m));
		strbuf_add_char(out, '}');
	}
	strbuf_add(out, STR("],\n"));
}

static void add_head(struct strbuf *out, const struct report *report)
{
	strbuf_add(out, STR("{\"sonde\": 1, "));
	add_key(out, "view");
	add_string(out, str_from(report->query.view->name));
	strbuf_add(out, STR(", "));
	add_key(out, "level");
	add_string(out, str_from(level_names[report->query.level]));
	strbuf_add(out, STR(", "));
	add_key(out, "metric");
	strbuf_add_char(out, '{');
	add_metric(out, report);
	strbuf_add_char(out, '}');
	add_total(out, report);
	strbuf_add(out, STR(", "));
	add_key(out, "filters");
	strbuf_add(out, STR("[],\n"));
	if (report->query.other_count > 0)
		add_metrics(out, report);
	add_key(out, "notes");
	add_notes(out, report->profile);
	strbuf_add(out, STR(",\n"));
	add_key(out, "rows");
	strbuf_add_char(out, '[');
}

void json_draw(struct sink *sink, const struct report *report)
{
	add_head(&sink->text, report);
	for (size_t place = 0; place < report->count && sink_settle(sink); place++) {
		strbuf_add(&sink->text, place ? STR(",\n") : STR("\n"));
		add_row(&sink->text, report, report_row(report, place));
	}
	strbuf_add(&sink->text, report->count ? STR("\n]}\n") : STR("]}\n"));
}
