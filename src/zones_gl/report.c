/*
 * The report on any device: title bars, a header, and a row for each zone, in IProf's arrangement.
 *
 * All boxes are drawn before all texts, so that a device changes between the two only once.  A
 * line's position is its baseline; its box extends DESCENT of a line below that.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <prof_gl.h>

#include "zones_gl/number.h"
#include "zones_gl/paint.h"

#define DESCENT	    0.22f
#define TITLE_LINES 1.5f
#define NUMBER	    "5555.55" /* the widest number of a column */

enum { NAME_SIZE = 512 };

static const float title_box[NUM_TITLE][4] = {{.1f, .3f, 0, .85f}, {.3f, .08f, .08f, .85f}};
static const float title_text[NUM_TITLE][4] = {{1, .9f, .55f, 1}, {1, .6f, .55f, 1}};
static const float header_box[4] = {0, 0, 0, .85f};
static const float header_text[4] = {.8f, .8f, .8f, 1};
static const float row_box[2][4] = {{.1f, .1f, .3f, .85f}, {.1f, .1f, .2f, .85f}};
static const float cursor_box[4] = {.35f, .35f, .1f, .9f};
static const float scroll_box[4] = {.6f, .6f, .7f, .8f};

/* The layout.  Lengths are positive, except line, which has the caller's sign. */
struct page {
	struct paint paint;
	const Prof_Report *report;
	float x, y; /* the baseline of the first line */
	float width, line;
	float field; /* width of a column of numbers */
	float names; /* width of the column of names */
	float plus, space;
	float header_y; /* baselines */
	int columns, precision;
	int first, rows; /* visible ones */
};

static int column_count(const Prof_Report *report)
{
	int count = 0;

	for (int i = 1; i < NUM_HEADER; i++)
		if (report->header[i])
			count = i;
	return count;
}

/* Chooses the visible rows, always including the cursor's. */
static void choose_rows(struct page *p, float height)
{
	int room = (int)(height / fabsf(p->line) + .001f);
	int count = p->report->num_record;

	p->rows = room < 0 ? 0 : room > count ? count : room;
	if (p->report->hilight >= p->rows && p->report->hilight < count)
		p->first = p->report->hilight - p->rows + 1;
}

/* Titles take a line and a half, so that there is a gap below them. */
static struct page arrange(const struct page *wanted, float height)
{
	struct page p = *wanted;

	p.plus = paint_width(&p.paint, "+");
	p.space = paint_width(&p.paint, " ");
	p.columns = column_count(p.report);
	p.field = paint_width(&p.paint, NUMBER) + 1.5f * p.plus;
	p.names = fmaxf(p.width - p.field * (float)p.columns, 0);
	p.header_y = p.y;
	height = fabsf(height) - fabsf(p.line);
	for (int i = 0; i < NUM_TITLE; i++)
		if (p.report->title[i]) {
			p.header_y += TITLE_LINES * p.line;
			height -= TITLE_LINES * fabsf(p.line);
		}
	choose_rows(&p, height);
	return p;
}

static float row_y(const struct page *p, int row)
{
	return p->header_y + (float)(row + 1) * p->line;
}

static void draw_box(const struct page *p, float y, float x0, float x1, const float rgba[4])
{
	paint_rectangle(&p->paint, p->x + x0, y - (1 - DESCENT) * p->line, p->x + x1,
		y + DESCENT * p->line, rgba);
}

/* Shows that there are more rows, and the position of the visible ones. */
static void draw_scroll_bar(const struct page *p)
{
	float count = (float)p->report->num_record;
	float top = row_y(p, 0) - (1 - DESCENT) * p->line;
	float length = (float)p->rows * p->line;
	float right = p->x + p->width;

	if (p->rows > 0 && p->rows < p->report->num_record)
		paint_rectangle(&p->paint, right - p->plus / 3,
			top + length * (float)p->first / count, right,
			top + length * (float)(p->first + p->rows) / count, scroll_box);
}

/* Colours from cold to hot; above half, it glows, and glow is set. */
static bool heat_colours(double heat, float text[4], float glow[4])
{
	static const float cold[3] = {.15f, .9f, .15f}, hot[3] = {1, 1, .9f};
	float h = heat > 0 ? heat < 1 ? (float)heat : 1 : 0;

	for (int i = 0; i < 3; i++)
		text[i] = cold[i] + (hot[i] - cold[i]) * h;
	text[3] = 1;
	glow[0] = glow[1] = .5f + .5f * h;
	glow[2] = 0;
	glow[3] = h - .5f;
	return h > .5f;
}

/* Truncates text that is wider than room, with dots at the end. */
static void fit(const struct page *p, char *text, float room)
{
	size_t length = strlen(text);

	if (paint_width(&p->paint, text) <= room)
		return;
	while (length > 0) {
		length--;
		/* Not within a UTF-8 character. */
		while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
			length--;
		memcpy(text + length, "..", 3);
		if (paint_width(&p->paint, text) <= room)
			return;
	}
	text[0] = 0;
}

/* Prefix, name and recursion, without control characters. */
static void label_text(char *text, size_t size, const Prof_Report_Record *r)
{
	char prefix[2] = {r->prefix, 0};

	if (r->number)
		snprintf(text, size, "%s%s (%d)", prefix, r->name, r->number);
	else
		snprintf(text, size, "%s%s", prefix, r->name);
	for (; *text; text++)
		if ((unsigned char)*text < 32 || *text == 127)
			*text = '?';
}

/* The text of the column of names; returns its position. */
static float name_text(const struct page *p, const Prof_Report_Record *r, char *text, size_t size)
{
	float x = p->space * (float)r->indent + p->plus * (r->prefix ? .5f : 1.5f);

	label_text(text, size, r);
	fit(p, text, p->names - x);
	return p->x + x;
}

/* A font of single dots has no space between them for a glow, so the background glows. */
static void draw_glow_box(const struct page *p, const Prof_Report_Record *r, float y)
{
	char text[NAME_SIZE];
	float cold[4], glow[4];
	float x;

	if (p->paint.device->text || !heat_colours(r->heat, cold, glow))
		return;
	x = name_text(p, r, text, sizeof text);
	glow[3] *= .4f;
	draw_box(p, y, x - p->x, x - p->x + paint_width(&p->paint, text), glow);
}

static void draw_boxes(const struct page *p)
{
	float y = p->y;

	for (int i = 0; i < NUM_TITLE; i++)
		if (p->report->title[i]) {
			draw_box(p, y, 0, p->width, title_box[i]);
			y += TITLE_LINES * p->line;
		}
	draw_box(p, p->header_y, 0, p->width, header_box);
	for (int i = 0; i < p->rows; i++) {
		int number = p->first + i;
		bool is_cursor = number == p->report->hilight;
		float rgba[4];

		draw_box(p, row_y(p, i), 0, p->width, is_cursor ? cursor_box : row_box[i & 1]);
		zone_colour(zone_hash(p->report->record[number].name), rgba);
		draw_box(p, row_y(p, i), 0, p->plus / 3, rgba);
		draw_glow_box(p, &p->report->record[number], row_y(p, i));
	}
	draw_scroll_bar(p);
}

static void draw_titles(const struct page *p)
{
	char text[512];
	float y = p->y;

	for (int i = 0; i < NUM_TITLE; i++)
		if (p->report->title[i]) {
			snprintf(text, sizeof text, "%s", p->report->title[i]);
			fit(p, text, p->width - p->plus);
			paint_text(&p->paint, p->x + p->plus / 2, y, text, title_text[i]);
			y += TITLE_LINES * p->line;
		}
}

static float field_x(const struct page *p, int column)
{
	return p->x + p->names + p->field * (float)column;
}

static void draw_header(const struct page *p)
{
	char *const *header = p->report->header;

	if (header[0])
		paint_text(&p->paint, p->x + 1.5f * p->plus, p->header_y, header[0], header_text);
	for (int i = 0; i < p->columns; i++)
		if (header[i + 1])
			paint_text(&p->paint,
				field_x(p, i) +
					(p->field - paint_width(&p->paint, header[i + 1])) / 2,
				p->header_y, header[i + 1], header_text);
}

static void draw_name(const struct page *p, const Prof_Report_Record *r, float y)
{
	char text[NAME_SIZE];
	float rgba[4], glow[4];
	float x = name_text(p, r, text, sizeof text);

	if (heat_colours(r->heat, rgba, glow) && p->paint.device->text)
		paint_text(&p->paint, x + 2, y - 1, text, glow);
	paint_text(&p->paint, x, y, text, rgba);
}

static void draw_values(const struct page *p, const Prof_Report_Record *r, float y)
{
	char text[32];
	float rgba[4], glow[4];

	heat_colours(r->heat, rgba, glow);
	for (int i = 0; i < p->columns && i < NUM_VALUES; i++) {
		float right = field_x(p, i) + p->field - (r->indent ? .25f : 1.25f) * p->plus;

		if (!(r->value_flag & 1 << i))
			continue;
		number_text(text, sizeof text, r->values[i], i == 2 ? 2 : p->precision,
			sizeof NUMBER - 1);
		paint_text(&p->paint, right - paint_width(&p->paint, text), y, text, rgba);
	}
}

static void draw_texts(const struct page *p)
{
	draw_titles(p);
	draw_header(p);
	for (int i = 0; i < p->rows; i++) {
		const Prof_Report_Record *r = &p->report->record[p->first + i];

		draw_name(p, r, row_y(p, i));
		draw_values(p, r, row_y(p, i));
	}
}

void Prof_draw_report(const Prof_Device *device, const Prof_Report *report, float sx, float sy,
	float width, float height, float line_spacing, int precision)
{
	struct page wanted = {.paint = paint_on(device, line_spacing),
		.report = report,
		.x = sx,
		.y = sy,
		.width = width,
		.line = line_spacing};
	struct page page;

	if (line_spacing == 0)
		return;
	wanted.precision = precision < 1 ? 1 : precision > 4 ? 4 : precision;
	page = arrange(&wanted, height);
	draw_boxes(&page);
	draw_texts(&page);
}

void Prof_draw_device(const Prof_Device *device, float sx, float sy, float width, float height,
	float line_spacing, int precision)
{
	static Prof_Zone zone = Prof_ZONE_("prof_draw", __FILE__, __LINE__);
	Prof_Report *report;

	Prof_enter(&zone);
	report = Prof_create_report();
	if (report) {
		Prof_draw_report(device, report, sx, sy, width, height, line_spacing, precision);
		Prof_free_report(report);
	}
	Prof_leave();
}
