/*
 * The table of zones: the report's rows in the order that the user chose, and a cursor that stays
 * on its zone while rows move.
 *
 * An order other than the mode's sorts each kind of rows separately, so that parents stay above the
 * focus and children below, with the largest of both next to it.
 */
#include "view/tui/model_state.h"

#include <stdlib.h>
#include <string.h>

bool tui_mode_has_focus(enum zone_mode mode)
{
	return mode == ZONE_MODE_GRAPH || mode == ZONE_MODE_DESCENDANTS;
}

void tui_table_deinit(struct tui_table *table)
{
	zone_report_destroy(table->report);
	vec_deinit(&table->order);
	*table = (struct tui_table){0};
}

enum tui_column tui_sorted_column(const struct tui_table *t)
{
	if (t->sort != TUI_SORT_MODE)
		return t->sort;
	if (t->query.mode == ZONE_MODE_NAME)
		return TUI_COLUMN_NAME;
	return t->query.mode == ZONE_MODE_SELF ? TUI_COLUMN_SELF : TUI_COLUMN_HIER;
}

static int compare_numbers(double x, double y)
{
	return (x < y) - (x > y);
}

static int compare_places(const struct zone_info *x, const struct zone_info *y)
{
	int order = strcmp(x->file, y->file);

	return order ? order : (x->line > y->line) - (x->line < y->line);
}

/* Numbers descend, texts ascend. */
static int compare_column(const struct tui_table *t, enum tui_column column,
	const struct zone_row *x, const struct zone_row *y)
{
	switch (column) {
	case TUI_COLUMN_NAME:
		return strcmp(x->info.name, y->info.name);
	case TUI_COLUMN_SELF:
		return compare_numbers(x->self_ms, y->self_ms);
	case TUI_COLUMN_HIER:
		return compare_numbers(x->hier_ms, y->hier_ms);
	case TUI_COLUMN_COUNT:
		return compare_numbers(x->count, y->count);
	case TUI_COLUMN_SHARE:
	case TUI_COLUMN_BAR:
		return compare_numbers(zone_row_value(x, t->report->column[0]),
			zone_row_value(y, t->report->column[0]));
	case TUI_COLUMN_HEAT:
		return compare_numbers(x->heat, y->heat);
	case TUI_COLUMN_PLACE:
		return compare_places(&x->info, &y->info);
	case TUI_COLUMNS:
		break;
	}
	return 0;
}

static int compare_rows(const void *a, const void *b, void *table)
{
	const struct tui_table *t = table;
	size_t i = *(const size_t *)a, j = *(const size_t *)b;
	const struct zone_row *x = &t->report->row[i], *y = &t->report->row[j];

	if (x->kind != y->kind)
		return (i > j) - (i < j);
	int order = compare_column(t, t->sort, x, y);
	bool is_text = t->sort == TUI_COLUMN_NAME || t->sort == TUI_COLUMN_PLACE;

	if (t->is_reverse != (x->kind == ZONE_ROW_PARENT && !is_text))
		order = -order;
	return order ? order : (i > j) - (i < j);
}

static void put_in_order(struct tui_table *t)
{
	t->order.count = 0;
	for (size_t i = 0; i < t->report->row_count; i++)
		vec_push(&t->order, i);
	if (t->sort != TUI_SORT_MODE && t->order.count)
		qsort_r(t->order.data, t->order.count, sizeof(*t->order.data), compare_rows, t);
	t->list.count = t->order.count;
}

/* Moves the cursor back to its zone; if that is gone, to the same place on the screen. */
static void put_cursor(struct tui_table *t)
{
	for (size_t i = 0; i < t->order.count; i++) {
		const struct zone_row *row = &t->report->row[t->order.data[i]];

		if (row->kind == t->cursor_kind && row->zone == t->cursor_zone &&
			row->depth == t->cursor_depth) {
			t->list.cursor = i;
			break;
		}
	}
	tui_list_settle(&t->list);
}

void tui_table_update(struct tui_model *m)
{
	struct tui_table *t = &m->table;
	struct zone_report *report =
		zone_report_create(zone_follow_history(m->attached.follow), &t->query);

	if (!report) {
		tui_say(m, TUI_TROUBLE, "no memory");
		return;
	}
	zone_report_destroy(t->report);
	t->report = report;
	put_in_order(t);
	put_cursor(t);
}

const struct zone_row *tui_table_row(const struct tui_model *m, size_t row)
{
	const struct tui_table *t = &m->table;

	return t->report && row < t->order.count ? &t->report->row[t->order.data[row]] : NULL;
}

void tui_table_mark(struct tui_model *m)
{
	struct tui_table *t = &m->table;
	const struct zone_row *row = tui_table_row(m, t->list.cursor);

	if (!row)
		return;
	t->cursor_kind = row->kind;
	t->cursor_zone = row->zone;
	t->cursor_depth = row->depth;
	t->query.cursor = (int)t->order.data[t->list.cursor];
}

/* The query has set the cursor: moves it to that row of the report. */
static void follow_query(struct tui_model *m)
{
	struct tui_table *t = &m->table;

	tui_table_update(m);
	if (!t->report || t->report->cursor_row < 0)
		return;
	for (size_t i = 0; i < t->order.count; i++)
		if (t->order.data[i] == (size_t)t->report->cursor_row)
			t->list.cursor = i;
	tui_list_settle(&t->list);
	tui_table_mark(m);
}

void tui_table_set_mode(struct tui_model *m, enum zone_mode mode)
{
	struct tui_table *t = &m->table;
	const struct zone_row *row = tui_table_row(m, t->list.cursor);

	/* The zone at the cursor becomes the focus, if there is none yet. */
	if (tui_mode_has_focus(mode) && !t->query.focus && row) {
		t->query.focus = row->zone;
		t->query.focus_depth = row->depth;
	}
	zone_query_set_mode(&t->query, mode);
	t->sort = TUI_SORT_MODE;
	t->is_reverse = false;
	t->cursor_kind = tui_mode_has_focus(mode) ? ZONE_ROW_FOCUS : ZONE_ROW_FLAT;
	tui_table_update(m);
	tui_table_mark(m);
}

void tui_table_select(struct tui_model *m)
{
	struct tui_table *t = &m->table;
	bool was_flat = !tui_mode_has_focus(t->query.mode);

	tui_table_mark(m);
	if (!zone_query_select(&t->query, zone_follow_history(m->attached.follow)))
		return;
	if (was_flat) {
		t->sort = TUI_SORT_MODE;
		t->is_reverse = false;
	}
	follow_query(m);
}

void tui_table_select_parent(struct tui_model *m)
{
	struct tui_table *t = &m->table;

	tui_table_mark(m);
	if (!tui_mode_has_focus(t->query.mode))
		tui_say(m, TUI_DIM, "parents are in the call graph: Enter");
	else if (zone_query_select_parent(&t->query, zone_follow_history(m->attached.follow)))
		follow_query(m);
	else
		tui_say(m, TUI_DIM, "it has no parent");
}

void tui_table_sort(struct tui_model *m, enum tui_column column)
{
	struct tui_table *t = &m->table;

	t->is_reverse = column == tui_sorted_column(t) && !t->is_reverse;
	t->sort = column;
	tui_table_update(m);
}
