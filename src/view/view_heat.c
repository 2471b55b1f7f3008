/*
 * The heat map: when the weight of a metric was spent.  Text has a character for each slice of
 * time, the darker the more; columns follow each other, and the slices of one are below each other.
 */
#include "analysis/heat.h"

#include <inttypes.h>

#include "view/text/text.h"
#include "view/text/units.h"
#include "view/views.h"

static void heat_view_analyse(struct report *report, struct arena *arena)
{
	size_t count;
	const metric_id *metrics =
		report_tree_metrics(report->profile, &report->query, arena, &count);

	report->heat = heat_analyse(report->selection, metrics, count, arena);
	report->row_count = report->heat->slices;
}

/* A slice's or a column's length, or a multiple of it: "2.5 ms". */
static void put_length(struct strbuf *out, uint64_t time_ns)
{
	if (time_ns == 0)
		strbuf_add_char(out, '0');
	else if (time_ns >= 1000000000)
		strbuf_printf(out, "%g s", (double)time_ns / 1e9);
	else if (time_ns >= 1000000)
		strbuf_printf(out, "%g ms", (double)time_ns / 1e6);
	else
		strbuf_printf(out, "%g us", (double)time_ns / 1e3);
}

/* From nothing to much; any weight above 0 is shown. */
#define SHADES 5
static const struct str shades[2][SHADES] = {
	{STR(" "), STR("."), STR(":"), STR("+"), STR("#")},
	{STR(" "), STR("░"), STR("▒"), STR("▓"), STR("█")},
};

static unsigned shade_of(const struct heat *heat, uint32_t slice)
{
	int64_t weight = heat->weight[slice];
	double size = weight < 0 ? -(double)weight : (double)weight;

	if (weight == 0)
		return 0;
	unsigned shade = 1 + (unsigned)((SHADES - 1) * size / ((double)heat->much + 1));
	return shade < SHADES ? shade : SHADES - 1;
}

/* Before a row: its offset within a column. */
#define LABEL_WIDTH 8
/* The distance of columns whose start time is shown. */
#define MARK_EVERY 10u

struct drawing {
	struct text *text;
	const struct heat *heat;
	uint32_t first, end; /* columns of this part */
};

static void draw_marks(const struct drawing *d)
{
	struct strbuf *out = &d->text->sink->text;
	struct strbuf mark = {0};
	uint64_t column_ns = d->heat->slice_ns * HEAT_ROWS;

	text_ink(d->text, INK_DIM);
	strbuf_printf(out, "%*s  ", LABEL_WIDTH, "");
	for (uint32_t c = d->first; c < d->end; c += MARK_EVERY) {
		bool is_last = c + MARK_EVERY >= d->end;

		strbuf_clear(&mark);
		put_length(&mark, d->heat->begin_ns + c * column_ns);
		strbuf_printf(out, "%-*s", is_last ? 0 : (int)MARK_EVERY, mark.data);
	}
	strbuf_deinit(&mark);
	text_ink(d->text, INK_PLAIN);
	strbuf_add_char(out, '\n');
}

static void draw_row(const struct drawing *d, uint32_t row)
{
	struct strbuf *out = &d->text->sink->text;
	struct strbuf label = {0};
	uint32_t end = d->end;

	/* No blanks at the end of a line. */
	while (end > d->first && shade_of(d->heat, (end - 1) * HEAT_ROWS + row) == 0)
		end--;

	put_length(&label, row * d->heat->slice_ns);
	text_ink(d->text, INK_DIM);
	if (row % 2 == 0 || end > d->first)
		strbuf_printf(out, "%*s%s", LABEL_WIDTH, row % 2 == 0 ? label.data : "",
			end > d->first ? "  " : "");
	strbuf_deinit(&label);
	for (uint32_t c = d->first; c < end; c++) {
		unsigned shade = shade_of(d->heat, c * HEAT_ROWS + row);

		text_ink(d->text, shade == SHADES - 1 ? INK_HOT : INK_PLAIN);
		strbuf_add(out, shades[d->text->style->utf8][shade]);
	}
	text_ink(d->text, INK_PLAIN);
	strbuf_add_char(out, '\n');
}

static void draw_legend(struct text *text, const struct report *report)
{
	struct strbuf line = {0};
	struct metric metric = report_metric(report);
	struct str unit = profile_string(report->profile, metric.unit);

	strbuf_add(&line, STR("the darkest: "));
	scale_put(&line, scale_for(unit, (uint64_t)report->heat->much), report->heat->much);
	strbuf_add(&line, STR(" or more in "));
	put_length(&line, report->heat->slice_ns);
	strbuf_add(&line, STR("; --time shows what was done then"));
	strbuf_add_char(&text->sink->text, '\n');
	text_ink(text, INK_DIM);
	strbuf_add(&text->sink->text, strbuf_str(&line));
	text_ink(text, INK_PLAIN);
	strbuf_add_char(&text->sink->text, '\n');
	strbuf_deinit(&line);
}

/* As many columns at once as fit. */
static uint32_t columns_at_once(const struct text *text)
{
	size_t width = text->style->width, label = LABEL_WIDTH + 2;

	if (width == 0 || width >= label + HEAT_COLUMNS_MAX)
		return HEAT_COLUMNS_MAX;
	return width > label + MARK_EVERY ? (uint32_t)(width - label) : MARK_EVERY;
}

static void draw_metric(struct text *text, const struct report *report)
{
	const struct heat *heat = report->heat;
	struct str metric = profile_string(report->profile, report_metric(report).name);
	uint32_t count = heat->slices / HEAT_ROWS, most = columns_at_once(text);
	struct strbuf lengths = {0};

	put_length(&lengths, heat->slice_ns * HEAT_ROWS);
	strbuf_add(&lengths, STR(", rows of "));
	put_length(&lengths, heat->slice_ns);
	text_title(text, "Heat map of %.*s: columns of %s", STR_ARG(metric), lengths.data);
	strbuf_deinit(&lengths);
	for (uint32_t first = 0; first < count; first += most) {
		struct drawing d = {.text = text,
			.heat = heat,
			.first = first,
			.end = first + most < count ? first + most : count};

		draw_marks(&d);
		for (uint32_t row = 0; row < HEAT_ROWS; row++)
			draw_row(&d, row);
	}
	draw_legend(text, report);
}

static void heat_view_draw(struct text *text, const struct report *report)
{
	if (report->heat->slices == 0) {
		text_title(text, "Heat map: no sample is shown");
		return;
	}
	for (size_t m = 0; m <= report->query.other_count; m++)
		draw_metric(text, report_of_metric(report, m));
}

static const enum column_id data_columns[] = {
	COLUMN_START,
	COLUMN_END_TIME,
	COLUMN_WEIGHT,
	COLUMN_END,
};

static const enum column_id more_columns[] = {
	COLUMN_WEIGHT_PERCENT,
	COLUMN_END,
};

static const enum column_id metric_columns[] = {
	COLUMN_WEIGHT,
	COLUMN_END,
};

const struct view view_heat = {
	.name = "heat",
	.summary = "when it was spent: a map of slices of time",
	.data_columns = data_columns,
	.more_columns = more_columns,
	.metric_columns = metric_columns,
	.joins_metrics = true,
	.needs_times = true,
	.analyse = heat_view_analyse,
	.draw = heat_view_draw,
};
