/*
 * Tables in two passes over the rows: the first finds the widths, the second draws.  Cells are made
 * twice rather than stored, because a table can have a million rows.  Where many rows are of one
 * entity, as in the callers view, its columns are measured and drawn once, and then copied.
 */
#include "view/text/table.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/escape.h"
#include "view/difference.h"
#include "view/text/fit.h"
#include "view/text/place.h"
#include "view/views.h"

#define GAP STR("  ")
/* Text columns before the name get a sixth of the width, but at least this. */
#define TEXT_COLUMN_MIN 12u
/* A name gets this width even if lines become longer than the terminal. */
#define NAME_WIDTH_MIN 12u

void table_init(struct table *table, struct text *text, const struct report *report)
{
	*table = (struct table){.text = text, .report = report};
}

void table_deinit(struct table *table)
{
	vec_deinit(&table->items);
	vec_deinit(&table->firsts);
	arena_destroy(table->arena);
	free(table->drawn);
	strbuf_deinit(&table->scratch);
}

static struct str report_unit(const struct report *report)
{
	return report->profile->strings[report_metric(report).unit.i];
}

const struct scale *report_scale(const struct report *report)
{
	return scale_for(report_unit(report), difference_size(report));
}

/* The headings of names other than function names. */
static const char *const name_headings[LEVEL_COUNT] = {
	[LEVEL_MODULE] = "module",
	[LEVEL_FILE] = "source file",
	[LEVEL_LINE] = "function, line",
	[LEVEL_INSTRUCTION] = "function, instruction",
	[LEVEL_THREAD] = "thread",
	[LEVEL_PROCESS] = "process",
	[LEVEL_CPU] = "CPU",
	[LEVEL_ZONE] = "zone",
};

/* The heading in this table; the previous column is the one last added. */
static const char *heading_for(
	const struct table *table, const struct report *report, enum column_id id)
{
	size_t count = table->items.count;
	const struct table_column *before = count ? &table->items.data[count - 1] : NULL;

	if (report->query.difference && report != table->report && columns[id].is_per_metric)
		return report == table->report->others[DIFFERENCE_OLD] ? "old" : "new";
	if (id == COLUMN_NAME && name_headings[report->query.level])
		return name_headings[report->query.level];
	/* A percentage after its own figure needs no name. */
	if (columns[id].kind == COLUMN_KIND_PERCENT && before && before->report == report &&
		before->column->get == columns[id].get)
		return "%";
	return columns[id].heading;
}

void table_add_of(struct table *table, size_t m, enum column_id id)
{
	const struct report *report = report_of_metric(table->report, m);
	struct table_column item = {.column = &columns[id],
		.report = report,
		.scale = report_scale(report),
		.heading = heading_for(table, report, id)};

	table->has_module |= id == COLUMN_MODULE;
	vec_push(&table->items, item);
}

void table_add(struct table *table, enum column_id id)
{
	const struct report_query *query = &table->report->query;

	if (id == COLUMN_NAME && query->budget && query->column_count == 0 &&
		view_has_column(query->view, COLUMN_ID))
		table_add_of(table, 0, COLUMN_ID);
	table_add_of(table, 0, id);
}

void table_add_asked(struct table *table)
{
	const struct report_query *query = &table->report->query;
	bool several = query->other_count > 0;

	/* Columns that are the same for all metrics then come after their figures. */
	for (size_t m = 0; m <= query->other_count; m++)
		for (size_t i = 0; i < query->column_count; i++)
			if (query->columns[i] != COLUMN_NAME &&
				(!several || columns[query->columns[i]].is_per_metric))
				table_add_of(table, m, query->columns[i]);
	for (size_t i = 0; several && i < query->column_count; i++)
		if (query->columns[i] != COLUMN_NAME && !columns[query->columns[i]].is_per_metric)
			table_add(table, query->columns[i]);
	table_add(table, COLUMN_NAME);
	table->keep_empty = true;
}

/* Whether figures of this column are differences. */
static bool is_signed(const struct table_column *item)
{
	return item->report->query.difference && item->report->others;
}

/* "+12.3%", and a mark if that is more than chance. */
static void change_put(struct strbuf *out, const struct cell *cell)
{
	if (cell->weight == 0)
		return;
	if (cell->base == 0) {
		strbuf_add(out, STR("new"));
	} else if (cell->weight == -cell->base) {
		strbuf_add(out, STR("gone"));
	} else {
		strbuf_add(out, cell->weight > 0 ? STR("+") : STR(""));
		percent_put(out, cell->weight, llabs(cell->base));
	}
	strbuf_add(out, cell->flag ? STR(" *") : STR("  "));
}

static void figure_put(
	const struct table_column *item, int64_t value, int64_t base, struct strbuf *out)
{
	if (is_signed(item) && value > 0)
		strbuf_add_char(out, '+');
	if (item->column->kind == COLUMN_KIND_PERCENT)
		percent_put(out, value, base);
	else
		scale_put(out, item->scale, value);
}

static void text_put(const struct cell *cell, struct strbuf *out)
{
	struct strbuf scratch = {0};

	escape_text(out, cell->entity && !cell->is_id ? entity_label_apart(cell->entity, &scratch)
						      : cell_text(cell, &scratch));
	strbuf_deinit(&scratch);
}

static void number_cell_put(const struct cell *cell, struct strbuf *out)
{
	const char *format = cell->is_address ? "0x%llx" : cell->is_reference ? "[%llu]" : "%llu";

	strbuf_printf(out, format, (unsigned long long)cell->number);
}

/* The cell's text, without the part in parentheses. */
static void cell_put(const struct table_column *item, const struct cell *cell, struct strbuf *out)
{
	if (cell->is_null || cell->is_blank)
		return;
	switch (item->column->kind) {
	case COLUMN_KIND_TEXT:
		text_put(cell, out);
		break;
	case COLUMN_KIND_NUMBER:
		number_cell_put(cell, out);
		break;
	case COLUMN_KIND_COUNT:
		scale_put(out, scale_for(STR("count"), 0), cell->weight);
		break;
	case COLUMN_KIND_TIME:
		time_put(out, cell->number);
		break;
	case COLUMN_KIND_FLAG:
		strbuf_add(out, cell->flag ? str_from(item->column->heading) : STR(""));
		break;
	case COLUMN_KIND_CALLS:
		cell_calls_put(out, cell);
		break;
	case COLUMN_KIND_MEAN:
		mean_put(out, cell->mean);
		break;
	case COLUMN_KIND_CHANGE:
		change_put(out, cell);
		break;
	case COLUMN_KIND_WEIGHT:
	case COLUMN_KIND_PERCENT:
		figure_put(item, cell->weight, cell->base, out);
		break;
	}
}

static void indirect_put(
	const struct table_column *item, const struct cell *cell, struct strbuf *out)
{
	if (!item->column->is_pair || cell->is_null || cell->indirect == 0)
		return;
	strbuf_add(out, STR(" ("));
	figure_put(item, cell->indirect, cell->base, out);
	strbuf_add_char(out, ')');
}

/* In terminal columns; all but texts are ASCII. */
static size_t cell_width(const struct table_column *item, const struct strbuf *shown)
{
	return item->column->kind == COLUMN_KIND_TEXT ? utf8_width(strbuf_str(shown)) : shown->size;
}

static void grow(size_t *width, size_t least)
{
	if (*width < least)
		*width = least;
}

/*
 * Whether the figure may be longer than all before it.  Few are, so the others' texts need not be
 * made to find the column's width.
 */
static bool may_be_longest(struct table_column *item, const struct cell *cell)
{
	uint64_t size = cell->weight < 0 ? -(uint64_t)cell->weight : (uint64_t)cell->weight;
	uint64_t base = cell->base < 0 ? -(uint64_t)cell->base : (uint64_t)cell->base;
	bool is_percent = item->column->kind == COLUMN_KIND_PERCENT;

	if ((!is_percent && item->column->kind != COLUMN_KIND_WEIGHT) || item->column->is_pair ||
		cell->is_null || cell->is_blank)
		return true;
	if (is_percent && cell->base != item->base) {
		item->base = cell->base;
		memset(item->largest, 0, sizeof(item->largest));
	}
	unsigned kind =
		is_percent ? percent_figure_kind(size, base) : scale_figure_kind(item->scale, size);
	uint64_t *largest = &item->largest[cell->weight < 0][kind];

	if (size < *largest)
		return false;
	*largest = size + 1;
	return true;
}

static void measure_cell(struct table_column *item, size_t row, struct strbuf *scratch)
{
	struct cell cell = item->column->get(item->report, row);

	if (!may_be_longest(item, &cell))
		return;
	strbuf_clear(scratch);
	cell_put(item, &cell, scratch);
	grow(&item->width, cell_width(item, scratch));
	if (!item->column->is_pair)
		return;
	strbuf_clear(scratch);
	indirect_put(item, &cell, scratch);
	grow(&item->indirect_width, scratch->size);
}

static size_t text_column_most(const struct text_style *style)
{
	size_t most = style->width / 6;

	if (style->width == 0)
		return SIZE_MAX;
	return most > TEXT_COLUMN_MIN ? most : TEXT_COLUMN_MIN;
}

/* The scale for the largest figure that is shown in the column. */
static const struct scale *column_scale(const struct report *shown, const struct table_column *item)
{
	uint64_t largest = 0;

	for (size_t place = 0; place < shown->count; place++) {
		struct cell cell = item->column->get(item->report, report_row(shown, place));

		if (!cell.is_null && cell.weight > 0 && (uint64_t)cell.weight > largest)
			largest = (uint64_t)cell.weight;
	}
	return scale_for(report_unit(item->report), largest);
}

static bool is_of_entity(const struct table *table, const struct table_column *item)
{
	return table->report->query.view->line_entity && item->column->is_of_entity;
}

/* Rows of none are all kept: their cells may differ. */
static void find_firsts(struct table *table)
{
	const struct report *report = table->report;
	bool *seen = xcalloc(report->tree->entity_count, sizeof(*seen));

	for (size_t place = 0; place < report->count; place++) {
		uint32_t entity =
			report->query.view->line_entity(report, report_row(report, place));

		if (entity != NO_ID && seen[entity])
			continue;
		if (entity != NO_ID)
			seen[entity] = true;
		vec_push(&table->firsts, (uint32_t)place);
	}
	free(seen);
}

static void measure_cells(struct table *table, struct table_column *item, struct strbuf *scratch)
{
	const struct report *report = table->report;

	if (is_of_entity(table, item))
		for (size_t i = 0; i < table->firsts.count; i++)
			measure_cell(item, report_row(report, table->firsts.data[i]), scratch);
	else
		for (size_t place = 0; place < report->count; place++)
			measure_cell(item, report_row(report, place), scratch);
}

static void measure_column(struct table *table, struct table_column *item, struct strbuf *scratch)
{
	size_t heading = strlen(item->heading);
	size_t most = text_column_most(table->text->style);

	if (item->column->is_per_tick)
		item->scale = column_scale(table->report, item);
	measure_cells(table, item, scratch);
	if (item->column->kind == COLUMN_KIND_TEXT && item->width > most)
		item->width = most;
	item->is_empty = item->width == 0 && item->column->kind == COLUMN_KIND_TEXT;
	/* A heading may reach over a pair's second part. */
	if (heading > item->indirect_width)
		grow(&item->width, heading - item->indirect_width);
}

static void pad(struct strbuf *out, size_t from, size_t to)
{
	static const struct str blanks = STR("                                ");

	while (from < to) {
		size_t count = to - from < blanks.size ? to - from : blanks.size;

		strbuf_add(out, (struct str){blanks.data, count});
		from += count;
	}
}

static size_t item_width(const struct table_column *item)
{
	return item->width + item->indirect_width;
}

/* Whether column i belongs to that metric's figures, which are adjacent. */
static bool is_of_metric(const struct table *table, size_t i, const struct report *report)
{
	const struct table_column *item = &table->items.data[i];

	return item->report == report && item->column->is_per_metric;
}

/* The total width of the columns of one metric from i on; *end: the first column after them. */
static size_t metric_width(
	const struct table *table, const struct report *report, size_t i, size_t *end)
{
	size_t first = i, width = 0;

	for (; i < table->items.count && is_of_metric(table, i, report); i++)
		width += (i > first ? GAP.size : 0) + item_width(&table->items.data[i]);
	*end = i;
	return width;
}

/* The first column of the first metric's figures: an index may come before it. */
static size_t first_figure(const struct table *table)
{
	size_t i = 0;

	while (i + 1 < table->items.count && !is_of_metric(table, i, table->report))
		i++;
	return i;
}

static void metric_name_put(const struct report *report, struct strbuf *name)
{
	strbuf_clear(name);
	escape_text(name, profile_string(report->profile, report_metric(report).name));
}

/* Makes each metric's columns wide enough for its name above them. */
static void widen_for_names(struct table *table)
{
	struct strbuf name = {0};
	size_t i = first_figure(table);

	for (size_t m = 0; m <= table->report->query.other_count; m++) {
		const struct report *report = report_of_metric(table->report, m);
		size_t first = i, width = metric_width(table, report, first, &i);

		metric_name_put(report, &name);
		if (i > first && utf8_width(strbuf_str(&name)) > width)
			table->items.data[i - 1].width += utf8_width(strbuf_str(&name)) - width;
	}
	strbuf_deinit(&name);
}

/* Draws one metric's name above its columns, those from i on. */
static size_t draw_metric_name(
	struct table *table, const struct report *report, size_t i, struct strbuf *name)
{
	struct strbuf *out = &table->text->sink->text;
	size_t first = i, width = metric_width(table, report, first, &i);

	metric_name_put(report, name);
	if (i > first) {
		strbuf_add(out, first > 0 ? GAP : STR(""));
		pad(out, utf8_width(strbuf_str(name)), width);
		strbuf_add(out, strbuf_str(name));
	}
	return i;
}

void table_measure(struct table *table)
{
	struct strbuf scratch = {0};
	size_t kept = 0;

	if (table->report->query.view->line_entity)
		find_firsts(table);
	for (size_t i = 0; i < table->items.count; i++) {
		struct table_column *item = &table->items.data[i];
		bool is_name = i + 1 == table->items.count;

		if (!is_name)
			measure_column(table, item, &scratch);
		if (is_name || !item->is_empty || table->keep_empty)
			table->items.data[kept++] = *item;
	}
	table->items.count = kept;
	strbuf_deinit(&scratch);
	if (table->report->query.other_count > 0)
		widen_for_names(table);
}

/* If there are several metrics, draws a line with their names. */
static void draw_metric_names(struct table *table)
{
	struct strbuf name = {0}, *out = &table->text->sink->text;
	size_t i = first_figure(table);

	text_ink(table->text, INK_DIM);
	for (size_t k = 0; k < i; k++)
		pad(out, 0, item_width(&table->items.data[k]) + (k > 0 ? GAP.size : 0));
	for (size_t m = 0; m <= table->report->query.other_count; m++)
		i = draw_metric_name(table, report_of_metric(table->report, m), i, &name);
	text_ink(table->text, INK_PLAIN);
	strbuf_add_char(out, '\n');
	strbuf_deinit(&name);
}

void table_draw_headings(struct table *table)
{
	struct strbuf *out = &table->text->sink->text;

	if (table->report->query.other_count > 0 && table->report->query.difference == NULL)
		draw_metric_names(table);
	text_ink(table->text, INK_DIM);
	for (size_t i = 0; i < table->items.count; i++) {
		struct table_column *item = &table->items.data[i];
		struct str heading = str_from(item->heading);
		size_t width = item_width(item);

		if (i + 1 == table->items.count) {
			strbuf_add(out, heading);
		} else if (item->column->kind == COLUMN_KIND_TEXT) {
			strbuf_add(out, heading);
			pad(out, heading.size, width);
			strbuf_add(out, GAP);
		} else {
			pad(out, heading.size, width);
			strbuf_add(out, heading);
			strbuf_add(out, GAP);
		}
	}
	text_ink(table->text, INK_PLAIN);
	strbuf_add_char(out, '\n');
}

static enum ink cell_ink(const struct column *column, const struct cell *cell)
{
	int64_t value = cell->weight + cell->indirect;
	double part;

	if (cell->is_blank)
		return INK_PLAIN;
	if (column->kind == COLUMN_KIND_TEXT || column->kind == COLUMN_KIND_NUMBER ||
		column->kind == COLUMN_KIND_COUNT)
		return INK_DIM;
	if (column->kind == COLUMN_KIND_CHANGE)
		return cell->flag ? INK_HOT : INK_DIM;
	if (value == 0)
		return INK_DIM;
	if (!column->is_own || cell->base == 0)
		return INK_PLAIN;
	part = (double)value / (double)cell->base;
	if (part >= 0.1)
		return INK_HOT;
	return part >= 0.01 ? INK_WARM : INK_PLAIN;
}

static void draw_cell(
	struct table *table, const struct table_column *item, size_t row, struct strbuf *scratch)
{
	struct strbuf *out = &table->text->sink->text;
	const struct column *column = item->column;
	struct cell cell = column->get(item->report, row);
	size_t width;

	strbuf_clear(scratch);
	cell_put(item, &cell, scratch);
	width = cell_width(item, scratch);
	text_ink(table->text, cell_ink(column, &cell));
	if (column->kind == COLUMN_KIND_TEXT) {
		fit_text(out, strbuf_str(scratch), item->width, table->text->style->utf8);
		pad(out, width, item->width);
	} else {
		pad(out, width, item->width);
		strbuf_add(out, strbuf_str(scratch));
	}
	if (item->indirect_width) {
		strbuf_clear(scratch);
		indirect_put(item, &cell, scratch);
		strbuf_add(out, strbuf_str(scratch));
		pad(out, scratch->size, item->indirect_width);
	}
	text_ink(table->text, INK_PLAIN);
	strbuf_add(out, GAP);
}

static void draw_cells(struct table *table, size_t row, size_t begin, size_t end)
{
	for (size_t i = begin; i < end; i++)
		draw_cell(table, &table->items.data[i], row, &table->scratch);
}

void table_draw_figures(struct table *table, size_t row)
{
	draw_cells(table, row, 0, table->items.count - 1);
}

/* Columns in front of the names. */
size_t table_figures_width(const struct table *table)
{
	size_t width = 0;

	for (size_t i = 0; i + 1 < table->items.count; i++)
		width += item_width(&table->items.data[i]) + GAP.size;
	return width;
}

/* Adds the module after a name: nothing, or "[module]", which may have brackets itself. */
static void module_put(const struct table *table, struct str module, struct strbuf *out)
{
	const struct text_style *style = table->text->style;
	struct strbuf escaped = {0};
	bool has_brackets = module.size && module.data[0] == '[';

	if (module.size == 0)
		return;
	escape_text(&escaped, module);
	strbuf_add(out, has_brackets ? STR("  ") : STR("  ["));
	fit_text(out, strbuf_str(&escaped), text_column_most(style), style->utf8);
	strbuf_add(out, has_brackets ? STR("") : STR("]"));
	strbuf_deinit(&escaped);
}

/* The columns left for the name itself. */
static size_t name_room(
	const struct table *table, const struct table_label *label, struct str module, size_t used)
{
	size_t width = table->text->style->width;

	if (width == 0)
		return SIZE_MAX;
	used += utf8_width(strbuf_str(&label->before)) + (label->is_stub ? 3 : 0);
	used += label->after.size;
	used += utf8_width(module);
	return width >= used + NAME_WIDTH_MIN ? width - used : NAME_WIDTH_MIN;
}

static enum ink label_ink(const struct table_label *label)
{
	if (label->is_stub)
		return INK_STUB;
	return label->is_main ? INK_TITLE : INK_PLAIN;
}

static void draw_dim(const struct table *table, const struct strbuf *words)
{
	if (words->size == 0)
		return;
	text_ink(table->text, INK_DIM);
	strbuf_add(&table->text->sink->text, strbuf_str(words));
	text_ink(table->text, INK_PLAIN);
}

static void draw_name(struct table *table, const struct table_label *label, size_t row, size_t used,
	struct strbuf *scratch)
{
	struct strbuf *out = &table->text->sink->text;
	struct cell cell = columns[COLUMN_NAME].get(table->report, row);
	struct strbuf place = {0}, module = {0};
	size_t room;

	place_put(&place, table->report->query.level, cell.entity);
	module_put(table, label->module, &module);
	room = name_room(table, label, strbuf_str(&module), used + utf8_width(strbuf_str(&place)));
	if (label->before.size) {
		text_ink(table->text, INK_DIM);
		strbuf_add(out, strbuf_str(&label->before));
	}
	text_ink(table->text, label_ink(label));
	strbuf_clear(scratch);
	text_put(&cell, scratch);
	fit_text(out, strbuf_str(scratch), room, table->text->style->utf8);
	if (label->is_stub)
		strbuf_add(out, STR("..."));
	text_ink(table->text, INK_PLAIN);
	draw_dim(table, &place);
	draw_dim(table, &label->after);
	draw_dim(table, &module);
	strbuf_add_char(out, '\n');
	strbuf_deinit(&place);
	strbuf_deinit(&module);
}

static void draw_nothing(const struct table *table)
{
	const struct report *report = table->report;
	struct strbuf *out = &table->text->sink->text;
	struct str metric = STR("weight");

	if (report->query.other_count == 0)
		metric = profile_string(report->profile, report_metric(report).name);
	strbuf_add(out, report->selection->step_count ? STR("no rows: the filters leave no ")
						      : STR("no rows: no stack has any "));
	escape_text(out, metric);
	strbuf_add_char(out, '\n');
}

/* Between entries of several rows. */
static void draw_rule(const struct table *table, size_t used)
{
	struct strbuf *out = &table->text->sink->text;
	size_t width = used + NAME_WIDTH_MIN;

	text_ink(table->text, INK_DIM);
	for (size_t i = 0; i < width; i++)
		strbuf_add_char(out, '-');
	text_ink(table->text, INK_PLAIN);
	strbuf_add_char(out, '\n');
}

/* The columns of names. */
static void draw_aside(const struct table *table, const struct table_label *label, size_t used)
{
	struct strbuf *out = &table->text->sink->text;

	if (label->aside.size == 0)
		return;
	for (size_t i = 0; i < used; i++)
		strbuf_add_char(out, ' ');
	draw_dim(table, &label->aside);
	strbuf_add_char(out, '\n');
}

/* An entity's columns are drawn once, unless inks are collected instead of drawn. */
static void begin_entities(struct table *table)
{
	size_t own = table->items.count;

	while (own > 0 && is_of_entity(table, &table->items.data[own - 1]))
		own--;
	if (own == table->items.count || table->text->lines)
		return;
	table->own_count = own;
	table->arena = arena_create();
	table->drawn = xcalloc(table->report->tree->entity_count, sizeof(*table->drawn));
}

/* What follows a name makes a row differ from the others of its entity. */
static void draw_row(struct table *table, const struct table_label *label, size_t row, size_t used,
	struct strbuf *scratch)
{
	const struct report *report = table->report;
	struct strbuf *out = &table->text->sink->text;
	bool is_alike = table->drawn && label->after.size == 0;
	uint32_t entity = is_alike ? report->query.view->line_entity(report, row) : NO_ID;

	if (entity == NO_ID) {
		table_draw_figures(table, row);
		draw_name(table, label, row, used, scratch);
		return;
	}
	draw_cells(table, row, 0, table->own_count);
	struct str *drawn = &table->drawn[entity];
	if (drawn->data) {
		strbuf_add(out, *drawn);
		return;
	}
	size_t begin = out->size;
	draw_cells(table, row, table->own_count, table->items.count - 1);
	draw_name(table, label, row, used, scratch);
	*drawn = arena_str(
		table->arena, (struct str){strbuf_str(out).data + begin, out->size - begin});
}

void table_draw(struct table *table, table_label_fn *label_fn, void *context)
{
	struct table_label label = {0};
	struct strbuf scratch = {0};
	size_t used;

	if (table->report->count == 0) {
		draw_nothing(table);
		return;
	}
	assert(table->report->query.view->entity);
	table_measure(table);
	begin_entities(table);
	used = table_figures_width(table);
	table_draw_headings(table);
	for (size_t place = 0; place < table->report->count; place++) {
		size_t row = report_row(table->report, place);

		strbuf_clear(&label.before);
		strbuf_clear(&label.after);
		strbuf_clear(&label.aside);
		label.is_stub = label.is_aside_above = label.is_main = label.begins = false;
		label.module = (struct str){0};
		if (label_fn)
			label_fn(context, place, &label);
		if (table->has_module)
			label.module = (struct str){0};
		if (label.begins)
			draw_rule(table, used);
		if (label.is_aside_above)
			draw_aside(table, &label, used);
		text_row(table->text, row);
		draw_row(table, &label, row, used, &scratch);
		if (!label.is_aside_above)
			draw_aside(table, &label, used);
		if (!sink_settle(table->text->sink))
			break;
	}
	strbuf_deinit(&label.before);
	strbuf_deinit(&label.after);
	strbuf_deinit(&label.aside);
	strbuf_deinit(&scratch);
}

static void fact_put(const struct table *table, enum column_id id, struct strbuf *out)
{
	struct cell cell = columns[id].get(table->report, 0);
	struct table_column item = {.column = &columns[id],
		.report = table->report,
		.scale = report_scale(table->report)};

	if (cell.is_null)
		strbuf_add(out, STR("not known"));
	else if (columns[id].kind == COLUMN_KIND_NUMBER)
		number_put(out, cell.number);
	else if (columns[id].kind == COLUMN_KIND_FLAG)
		strbuf_add(out, cell.flag ? STR("yes") : STR("no"));
	else
		cell_put(&item, &cell, out);
}

void table_draw_facts(struct table *table, const enum column_id *ids)
{
	struct text *text = table->text;
	struct strbuf *out = &text->sink->text, scratch = {0};
	size_t heading_width = 0, width = 0;

	for (const enum column_id *id = ids; *id != COLUMN_COUNT; id++) {
		strbuf_clear(&scratch);
		fact_put(table, *id, &scratch);
		grow(&width, scratch.size);
		grow(&heading_width, strlen(columns[*id].heading));
	}
	for (const enum column_id *id = ids; *id != COLUMN_COUNT; id++) {
		const struct column *column = &columns[*id];

		strbuf_clear(&scratch);
		fact_put(table, *id, &scratch);
		strbuf_add(out, str_from(column->heading));
		pad(out, strlen(column->heading), heading_width);
		strbuf_add(out, GAP);
		pad(out, scratch.size, width);
		strbuf_add(out, strbuf_str(&scratch));
		text_ink(text, INK_DIM);
		strbuf_add(out, GAP);
		strbuf_add(out, str_from(column->help));
		text_ink(text, INK_PLAIN);
		strbuf_add_char(out, '\n');
	}
	strbuf_deinit(&scratch);
}
