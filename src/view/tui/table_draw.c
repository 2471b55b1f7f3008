/*
 * Draws the table: as many columns as there is room for, figures to their right ends, names cut in
 * their middle.  Heat colours the figures: green is steady, red varies much.
 */
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "view/text/fit.h"
#include "view/tui/find.h"
#include "view/tui/model_state.h"

enum {
	NARROW = 9, /* columns of a figure */
	WIDE = 11,
	SHARE = 8,
	HEAT = 7,
	PLACE = 30,
	BAR = 30,
	NAME_MIN = 12,
	NAME_MAX = 72, /* names further from their figures are hard to follow */
};

static void add_column(struct tui_table *t, enum tui_column column, unsigned width)
{
	t->column[t->column_count] = column;
	t->column_end[t->column_count] = width;
	t->column_count++;
}

static enum tui_column column_of(enum zone_measure measure)
{
	switch (measure) {
	case ZONE_SELF:
		return TUI_COLUMN_SELF;
	case ZONE_HIER:
		return TUI_COLUMN_HIER;
	case ZONE_COUNT:
		return TUI_COLUMN_COUNT;
	}
	return TUI_COLUMN_NAME;
}

/* Chooses the columns; column_end is first their width, then their end. */
static void lay_out(struct tui_table *t, unsigned width)
{
	unsigned figure = width >= 60 ? WIDE : NARROW, left = width;

	t->column_count = 0;
	add_column(t, TUI_COLUMN_NAME, 0);
	for (size_t i = 0; i < ZONE_COLUMNS && left >= figure + NAME_MIN; i++, left -= figure)
		add_column(t, column_of(t->report->column[i]), figure);
	if (left >= SHARE + 3 * NAME_MIN) {
		add_column(t, TUI_COLUMN_SHARE, SHARE);
		left -= SHARE;
	}
	if (left >= HEAT + 3 * NAME_MIN) {
		add_column(t, TUI_COLUMN_HEAT, HEAT);
		left -= HEAT;
	}
	if (left >= BAR + 4 * NAME_MIN) {
		add_column(t, TUI_COLUMN_BAR, BAR);
		left -= BAR;
	}
	if (left >= PLACE + 3 * NAME_MIN) {
		add_column(t, TUI_COLUMN_PLACE, PLACE);
		left -= PLACE;
	}
	if (left > NAME_MAX && t->column[t->column_count - 1] == TUI_COLUMN_PLACE) {
		t->column_end[t->column_count - 1] += left - NAME_MAX;
		left = NAME_MAX;
	}
	t->column_end[0] = left;
	for (size_t i = 1; i < t->column_count; i++)
		t->column_end[i] += t->column_end[i - 1];
}

/* The one unit of the times in a column; NULL: it has no times. */
static const char *unit_of(const struct tui_table *t, enum tui_column column)
{
	return (column == TUI_COLUMN_SELF || column == TUI_COLUMN_HIER) && t->report
		       ? t->report->unit.name
		       : NULL;
}

static const char *head_of(enum tui_column column)
{
	switch (column) {
	case TUI_COLUMN_NAME:
		return "zone";
	case TUI_COLUMN_SELF:
		return "self";
	case TUI_COLUMN_HIER:
		return "hier";
	case TUI_COLUMN_COUNT:
		return "count";
	case TUI_COLUMN_SHARE:
		return "share";
	case TUI_COLUMN_HEAT:
		return "varies";
	case TUI_COLUMN_PLACE:
		return "where";
	case TUI_COLUMN_BAR:
		return "share";
	case TUI_COLUMNS:
		break;
	}
	return "";
}

/* Sorted from small to large at first. */
static bool is_name(enum tui_column column)
{
	return column == TUI_COLUMN_NAME || column == TUI_COLUMN_PLACE;
}

/* Its head and cells begin at its left. */
static bool is_text(enum tui_column column)
{
	return column == TUI_COLUMN_NAME || column == TUI_COLUMN_PLACE || column == TUI_COLUMN_BAR;
}

static void draw_heads(struct tui_table *t, struct tui_canvas *canvas, unsigned y)
{
	unsigned x = 0;

	t->head_y = y;
	tui_fill(canvas, y, 0, canvas->width, TUI_HEAD);
	for (size_t i = 0; i < t->column_count; i++) {
		bool is_sorted = t->column[i] == tui_sorted_column(t);
		bool goes_up = t->is_reverse != is_name(t->column[i]);
		const char *unit = unit_of(t, t->column[i]);
		char text[32];

		snprintf(text, sizeof(text), "%s%s%s%s", head_of(t->column[i]), unit ? " " : "",
			unit ? unit : "",
			!is_sorted ? ""
			: goes_up  ? "▲"
				   : "▼");
		if (is_text(t->column[i]))
			tui_put(canvas, y, x + (i ? 2 : 1), t->column_end[i],
				is_sorted ? TUI_SORTED : TUI_HEAD, str_from(text));
		else
			tui_put_right(canvas, y, x, t->column_end[i],
				is_sorted ? TUI_SORTED : TUI_HEAD, str_from(text));
		x = t->column_end[i];
	}
}

void tui_put_figure(struct tui_canvas *canvas, unsigned y, unsigned x, unsigned end,
	enum tui_style style, double value, int decimals)
{
	char text[64] = "";

	for (int size = 1000; decimals >= 0 && size > (int)(end - x); decimals--)
		size = snprintf(text, sizeof(text), "%.*f", decimals, value);
	if ((unsigned)strlen(text) > end - x)
		snprintf(text, sizeof(text), "%.1e", value);
	tui_put_right(canvas, y, x, end, style, str_from(text));
}

static enum tui_style heat_style(const struct tui_table *t, const struct zone_row *row)
{
	int level = (int)(row->heat * TUI_HEATS);

	if (row->self_ms <= 0 && row->hier_ms <= 0 && row->count <= 0)
		return TUI_DIM;
	if (t->report->query.frame > 0 || t->report->query.average == 0)
		return TUI_PLAIN; /* one frame does not vary */
	level = level < 0 ? 0 : level >= TUI_HEATS ? TUI_HEATS - 1 : level;
	return (enum tui_style)(TUI_HEAT + level);
}

static void draw_heat(const struct zone_row *row, struct tui_canvas *canvas, unsigned y, unsigned x,
	unsigned end, enum tui_style style)
{
	char text[32];

	if (style < TUI_HEAT)
		return;
	/* Heat ends at 1, which is 50 %. */
	snprintf(text, sizeof(text), row->heat >= 1 ? ">%.0f%%" : "±%.0f%%", 50 * row->heat);
	tui_put_right(canvas, y, x, end, style, str_from(text));
}

static double share_of(const struct tui_table *t, const struct zone_row *row)
{
	enum zone_measure measure = t->report->column[0];

	/* Rows outside the sums have no share in them. */
	if (t->report->total_ms <= 0 || measure == ZONE_COUNT || row->kind == ZONE_ROW_FRAMELESS)
		return -1;
	return zone_row_value(row, measure) / t->report->total_ms;
}

static void draw_share(const struct tui_table *t, const struct zone_row *row,
	struct tui_canvas *canvas, unsigned y, unsigned x, unsigned end, enum tui_style style)
{
	double share = share_of(t, row);
	char text[32];

	if (share < 0)
		return;
	snprintf(text, sizeof(text), "%.1f%%", 100 * share);
	tui_put_right(canvas, y, x, end, style, str_from(text));
}

static void draw_bar(const struct tui_table *t, const struct zone_row *row,
	struct tui_canvas *canvas, unsigned y, unsigned x, unsigned end, enum tui_style style)
{
	double share = share_of(t, row);

	if (share > 0 && end > x + 2)
		tui_put_bar(canvas, y, x + 2, end, style, share);
}

static void draw_place(
	const struct zone_row *row, struct tui_canvas *canvas, unsigned y, unsigned x, unsigned end)
{
	struct strbuf text = {0};

	if (!row->info.file[0])
		return;
	strbuf_add(&text, str_base_name(str_from(row->info.file)));
	strbuf_printf(&text, ":%u", row->info.line);
	tui_put_name(canvas, y, x + 2, end, TUI_DIM, strbuf_str(&text));
	strbuf_deinit(&text);
}

/* Marks the search text in a label that has been drawn from x on. */
static void mark_match(const struct tui_model *m, struct str label, struct tui_canvas *canvas,
	unsigned y, unsigned x, unsigned end)
{
	const char *needle = m->search.text;
	long at = needle[0] ? tui_find(label, needle) : -1;

	if (at < 0)
		return;
	unsigned from = x + (unsigned)utf8_width((struct str){label.data, (size_t)at});
	unsigned to = from + (unsigned)utf8_width(str_from(needle));

	tui_restyle(canvas, y, from, to < end ? to : end, TUI_MATCH);
}

static void draw_name(const struct tui_model *m, const struct zone_row *row,
	struct tui_canvas *canvas, unsigned y, unsigned end, enum tui_style style)
{
	char label[1024];
	size_t size = zone_row_label(row, label, sizeof(label));
	struct strbuf fitted = {0};

	unsigned x = row->indent > 0 ? (unsigned)row->indent : 0;

	if (end < 20)
		x = x ? 1 : 0; /* little room: just a hint of it */
	fit_text(&fitted, (struct str){label, size}, end > x ? end - x : 0, canvas->utf8);
	tui_put(canvas, y, x, end, style, strbuf_str(&fitted));
	mark_match(m, strbuf_str(&fitted), canvas, y, x, end);
	strbuf_deinit(&fitted);
}

static enum tui_style name_style(const struct zone_row *row, enum tui_style figures)
{
	if (row->kind == ZONE_ROW_FOCUS)
		return TUI_FOCUS;
	if (row->kind == ZONE_ROW_RECURSION)
		return TUI_NOTICE;
	return figures == TUI_DIM || row->kind == ZONE_ROW_FRAMELESS ? TUI_DIM : TUI_PLAIN;
}

static void draw_row(const struct tui_model *m, const struct zone_row *row,
	struct tui_canvas *canvas, unsigned y)
{
	const struct tui_table *t = &m->table;
	enum tui_style style = row->kind == ZONE_ROW_FRAMELESS ? TUI_DIM : heat_style(t, row);
	unsigned x = t->column_end[0];
	bool is_run = zone_follow_base(m->attached.follow) == ZONE_BASE_RUN;

	draw_name(m, row, canvas, y, x > 1 ? x - 1 : x, name_style(row, style));
	for (size_t i = 1; i < t->column_count; x = t->column_end[i++]) {
		unsigned end = t->column_end[i];

		switch (t->column[i]) {
		case TUI_COLUMN_SELF:
			tui_put_figure(
				canvas, y, x + 1, end, style, row->self_ms / t->report->unit.ms, 3);
			break;
		case TUI_COLUMN_HIER:
			tui_put_figure(
				canvas, y, x + 1, end, style, row->hier_ms / t->report->unit.ms, 3);
			break;
		case TUI_COLUMN_COUNT:
			/* A whole run has whole entries. */
			tui_put_figure(canvas, y, x + 1, end, style, row->count, is_run ? 0 : 2);
			break;
		case TUI_COLUMN_SHARE:
			draw_share(t, row, canvas, y, x, end, style);
			break;
		case TUI_COLUMN_HEAT:
			draw_heat(row, canvas, y, x, end, style);
			break;
		case TUI_COLUMN_PLACE:
			draw_place(row, canvas, y, x, end);
			break;
		case TUI_COLUMN_BAR:
			draw_bar(t, row, canvas, y, x, end, style);
			break;
		case TUI_COLUMN_NAME:
		case TUI_COLUMNS:
			break;
		}
	}
}

void tui_table_draw(struct tui_model *m, struct tui_canvas *canvas, unsigned y, unsigned end)
{
	struct tui_table *t = &m->table;
	struct tui_list *list = &t->list;

	if (!t->report || y >= end)
		return;
	/* The last column of the screen is the bar's. */
	lay_out(t, canvas->width - 1);
	draw_heads(t, canvas, y);
	list->y = y + 1;
	list->height = end - y - 1;
	tui_list_settle(list);
	for (unsigned i = 0; i < list->height && list->top + i < list->count; i++) {
		size_t row = list->top + i;

		draw_row(m, tui_table_row(m, row), canvas, list->y + i);
		if (row == list->cursor)
			tui_select(canvas, list->y + i, 0, canvas->width - 1);
	}
	if (!list->count)
		tui_put(canvas, list->y + 1, 2, canvas->width, TUI_DIM,
			STR("nothing yet: no frame has ended"));
	tui_list_draw_bar(list, canvas, canvas->width - 1);
}
