/*
 * Flame graphs in SVG 1.1 (W3C, 2011).  See svg.h; the layout is analysis/flame.h's.
 *
 * The root is on top, so that it is seen first wherever the picture is shown.  The picture is
 * complete without scripts; flame.js, which is part of it, redraws it for the window.  Boxes that
 * no zoom would make wide enough to see are left out, and counted.
 */
#include "view/svg/svg.h"

#include <inttypes.h>

#include "analysis/flame.h"
#include "base/escape.h"
#include "view/difference.h"
#include "view/svg/colours.h"
#include "view/svg/rows.h"
#include "view/text/fit.h"
#include "view/text/heading.h"
#include "view/text/place.h"
#include "view/text/units.h"

#define WIDTH		1200 /* pixels, until the script knows the window */
#define MARGIN		10
#define BOX		17 /* height of a box and the gap above it */
#define LINE		18 /* height of a line of text */
#define LETTER_10	71 /* width of a letter in tenths of a pixel */
#define TITLE_LETTER_10 85
#define HIDDEN_10	5  /* boxes below that many tenths of a pixel are hidden, */
#define NARROW_10	1  /* and below that many left out */
#define GAP_MIN_10	30 /* wider ones have a gap of a pixel after them */
#define DEPTH_DEEP	150

extern const char svg_flame_script[];
extern const size_t svg_flame_script_size;

struct svg {
	struct sink *sink;
	struct strbuf *out; /* the sink's text */
	const struct report *report;
	const struct flame *flame;
	const struct scale *scale;
	const struct svg_rows *rows;
	struct svg_colours colours;
	uint64_t top; /* pixels: where boxes begin */
	uint64_t narrow_count;
	struct strbuf name, title, text; /* of the current box */
};

static uint32_t colour_of(const struct svg *svg, const struct flame_box *box)
{
	if (svg->report->query.difference)
		return svg_colour_of_change(box->weight, box->width);
	if (box->row == NO_ID)
		return svg_colour(&svg->colours, NULL);
	const struct calltree_row *row = &svg->report->calltree->rows[box->row];

	return svg_colour(&svg->colours, &svg->report->tree->entities[row->entity]);
}

static void add_text_line(struct svg *svg, uint64_t y, const char *class, struct str line)
{
	strbuf_printf(svg->out, "<text class=\"%s\" x=\"%d\" y=\"%" PRIu64 "\">", class, MARGIN, y);
	escape_xml(svg->out, line);
	strbuf_add(svg->out, STR("</text>\n"));
}

/* The lines of the text report's heading, and why boxes may be hard to see. */
static void make_heading(const struct svg *svg, struct strbuf *lines)
{
	struct text_style style = {.utf8 = true};
	struct sink sink = {.fd = -1};
	struct text text = {.sink = &sink, .style = &style};

	heading_draw(&text, svg->report);
	strbuf_add(lines, strbuf_str(&sink.text));
	strbuf_deinit(&sink.text);
	if (svg->report->query.difference)
		strbuf_add(
			lines, STR("as wide as the new profile; orange: more than in the old one, "
				   "blue: less; what is gone is not there\n"));
	if (svg->flame->depth_max > DEPTH_DEEP)
		strbuf_printf(lines,
			"%" PRIu32 " frames deep; --collapse full shows recursion as one level\n",
			svg->flame->depth_max);
}

static size_t count_lines(struct str text)
{
	size_t count = 0;

	while (text.size) {
		str_take_line(&text);
		count++;
	}
	return count;
}

static void add_style(struct svg *svg)
{
	strbuf_add(
		svg->out, STR("<style>\n"
			      "text { font: 12px monospace; fill: #1d1e20 }\n"
			      "text.h { font-weight: bold; font-size: 14px }\n"
			      "text.l { fill: #6b6d72 }\n"
			      "text.n { fill: #c2410c }\n"
			      "#found { cursor: pointer; fill: #2458d3 }\n"
			      "g.b, g.f { cursor: pointer }\n"
			      "g.b text, g.f text { pointer-events: none }\n"
			      "g.f text { fill: #6b6d72 }\n"
			      "g.b:hover rect, g.f:hover rect { stroke: #111; stroke-width: 1 }\n"
			      "</style>\n"));
}

static void begin(struct svg *svg, struct str heading, size_t note_lines)
{
	uint64_t y = LINE, height;

	svg->top = (count_lines(heading) + 2) * LINE;
	height = svg->top + (uint64_t)svg->rows->count * BOX + (uint64_t)(note_lines + 1) * LINE;
	strbuf_printf(svg->out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%d\" "
		"height=\"%" PRIu64 "\" viewBox=\"0 0 %d %" PRIu64 "\">\n",
		WIDTH, height, WIDTH, height);
	strbuf_add(svg->out, STR("<title>Flame graph</title>\n"));
	add_style(svg);
	strbuf_add(svg->out, STR("<rect width=\"100%\" height=\"100%\" fill=\"#fbfbfa\"/>\n"));
	for (bool is_first = true; heading.size; is_first = false, y += LINE) {
		struct strbuf line = {0};
		size_t letter_10 = is_first ? TITLE_LETTER_10 : LETTER_10;

		fit_text(&line, str_take_line(&heading), (WIDTH - 2 * MARGIN) * 10 / letter_10,
			true);
		add_text_line(svg, y, is_first ? "h" : "l", strbuf_str(&line));
		strbuf_deinit(&line);
	}
	strbuf_printf(svg->out,
		"<text id=\"found\" x=\"%d\" y=\"%" PRIu64 "\"></text>\n"
		"<text id=\"status\" x=\"%d\" y=\"%" PRIu64 "\"></text>\n",
		MARGIN, y, MARGIN + 300, y);
}

/* Boxes. */

static void make_name(struct svg *svg, const struct flame_box *box)
{
	struct strbuf label = {0}, raw = {0};

	strbuf_clear(&svg->name);
	if (box->row == NO_ID) {
		strbuf_add(&svg->name, STR("all"));
		return;
	}
	const struct calltree_row *row = &svg->report->calltree->rows[box->row];
	const struct entity *entity = &svg->report->tree->entities[row->entity];
	strbuf_add(&raw, entity_label_apart(entity, &label));
	place_put(&raw, svg->report->query.level, entity);
	escape_text(&svg->name, strbuf_str(&raw));
	strbuf_deinit(&raw);
	strbuf_deinit(&label);
}

/* The length in JavaScript of a string of UTF-8 text. */
static size_t utf16_units(struct str s)
{
	size_t units = 0;

	while (s.size) {
		int32_t c;
		size_t size = utf8_decode(s, &c);
		units += c >= 0x10000 ? 2 : 1;
		s = (struct str){s.data + size, s.size - size};
	}
	return units;
}

/* "name [module] (1.234 s, 12.3%)"; for a difference "(now 1.2 s, was 1.0 s, +0.2 s)". */
static void make_title(struct svg *svg, const struct flame_box *box)
{
	struct strbuf *title = &svg->title;

	strbuf_clear(title);
	strbuf_add(title, strbuf_str(&svg->name));
	if (box->row != NO_ID) {
		const struct calltree_row *row = &svg->report->calltree->rows[box->row];
		struct str module = svg->report->tree->entities[row->entity].module;
		if (module.size && svg->report->query.level != LEVEL_MODULE)
			strbuf_printf(title, " [%.*s]", STR_ARG(module));
	}
	strbuf_add(title, STR(" ("));
	if (svg->report->query.difference) {
		strbuf_add(title, STR("now "));
		scale_put_size(title, svg->scale, box->width);
		strbuf_add(title, STR(", change "));
		scale_put(title, svg->scale, box->weight);
	} else {
		scale_put(title, svg->scale, box->weight);
	}
	strbuf_add(title, STR(", "));
	if (svg->report->query.difference)
		percent_put_size(title, box->width, svg->flame->boxes[0].width);
	else
		percent_put(title, box->weight, svg->report->tree->total);
	strbuf_add_char(title, ')');
}

/* As much of the name as fits. */
static void make_text(struct svg *svg, uint64_t width_10)
{
	size_t room = width_10 < 60 ? 0 : (size_t)(width_10 - 60) / LETTER_10, shown = 0;
	struct str rest = strbuf_str(&svg->name);

	strbuf_clear(&svg->text);
	if (room < 3)
		return;
	if (utf8_width(rest) <= room) {
		strbuf_add(&svg->text, rest);
		return;
	}
	while (rest.size && shown + 2 < room) {
		int32_t c;
		size_t size = utf8_decode(rest, &c);
		strbuf_add(&svg->text, (struct str){rest.data, size});
		rest = (struct str){rest.data + size, rest.size - size};
		shown++;
	}
	strbuf_add(&svg->text, STR(".."));
}

/* value of the root's width, in tenths of pixels of the picture's. */
static uint64_t to_pixels_10(const struct svg *svg, uint64_t value)
{
	uint64_t whole = svg->flame->boxes[0].width;

	if (whole == 0)
		return value == 0 ? (WIDTH - 2 * MARGIN) * 10 : 0;
	return (uint64_t)((unsigned __int128)value * (WIDTH - 2 * MARGIN) * 10 / whole);
}

/* The least value that is that many tenths of a pixel wide. */
static uint64_t width_of_10(const struct svg *svg, uint64_t tenths)
{
	uint64_t whole = svg->flame->boxes[0].width, all = (WIDTH - 2 * MARGIN) * 10;

	return (uint64_t)(((unsigned __int128)whole * tenths + all - 1) / all);
}

static void put_pixels(struct strbuf *out, const char *name, uint64_t tenths)
{
	strbuf_printf(out, " %s=\"%" PRIu64 ".%" PRIu64 "\"", name, tenths / 10, tenths % 10);
}

static uint64_t box_x_10(const struct svg *svg, const struct flame_box *box)
{
	return MARGIN * 10 + (box->start ? to_pixels_10(svg, box->start) : 0);
}

/* The rectangle, and the text in it, after the group's <title>. */
static void put_rect(
	struct svg *svg, const struct flame_box *box, uint32_t row, uint32_t fill, struct str text)
{
	uint64_t x_10 = box_x_10(svg, box), width_10 = to_pixels_10(svg, box->width);
	uint64_t y = svg->top + (uint64_t)row * BOX;

	strbuf_add(svg->out, STR("<rect"));
	put_pixels(svg->out, "x", x_10);
	put_pixels(svg->out, "width", width_10 > GAP_MIN_10 ? width_10 - 10 : width_10);
	strbuf_printf(svg->out, " y=\"%" PRIu64 "\" height=\"%d\" fill=\"#%06x\"/><text", y,
		BOX - 1, fill);
	put_pixels(svg->out, "x", x_10 + 30);
	strbuf_printf(svg->out, " y=\"%" PRIu64 "\">", y + 12);
	escape_xml(svg->out, text);
	strbuf_add(svg->out, STR("</text></g>\n"));
}

/* The start of a box's group, or of a fold's. */
static void put_group(struct svg *svg, const char *class, const struct flame_box *box)
{
	strbuf_printf(svg->out,
		"<g class=\"%s\" data-s=\"%" PRIu64 "\" data-w=\"%" PRIu64 "\" data-d=\"%" PRIu32
		"\"",
		class, box->start, box->width, box->depth);
}

/* One row instead of the next `count` boxes. */
static void draw_fold(struct svg *svg, uint32_t first, uint32_t count)
{
	const struct flame_box *box = &svg->flame->boxes[first];
	struct strbuf text = {0};

	strbuf_add(&text, STR("\u00b7\u00b7\u00b7 "));
	number_put(&text, count);
	strbuf_add(&text, STR(" frames that only call the next \u00b7\u00b7\u00b7"));
	put_group(svg, "f", box);
	strbuf_printf(svg->out, " data-n=\"%" PRIu32 "\"><title>", count);
	escape_xml(svg->out, strbuf_str(&text));
	strbuf_add(svg->out, STR(": a click shows them</title>"));
	put_rect(svg, box, svg->rows->row[first], svg_colour(&svg->colours, NULL),
		to_pixels_10(svg, box->width) > text.size * LETTER_10 ? strbuf_str(&text)
								      : STR(""));
	strbuf_deinit(&text);
}

static void draw_box(struct svg *svg, uint32_t i)
{
	const struct flame_box *box = &svg->flame->boxes[i];
	uint64_t width_10 = to_pixels_10(svg, box->width);

	if (width_10 < NARROW_10 && box->depth) {
		svg->narrow_count++;
		return;
	}
	if (svg->rows->folded[i])
		draw_fold(svg, i, svg->rows->folded[i]);
	make_name(svg, box);
	make_title(svg, box);
	make_text(svg, width_10);
	put_group(svg, "b", box);
	strbuf_printf(svg->out, " data-l=\"%zu\"%s><title>", utf16_units(strbuf_str(&svg->name)),
		svg->rows->is_hidden[i] ? " style=\"display: none\"" : "");
	escape_xml(svg->out, strbuf_str(&svg->title));
	strbuf_add(svg->out, STR("</title>"));
	put_rect(svg, box, svg->rows->row[i], colour_of(svg, box), strbuf_str(&svg->text));
}

/* Below the boxes: notes on losses, and on boxes that are too narrow. */
static void draw_notes(struct svg *svg)
{
	const struct profile *p = svg->report->profile;
	uint64_t y = svg->top + (uint64_t)svg->rows->count * BOX + LINE;
	struct strbuf line = {0};

	strbuf_printf(svg->out, "<g id=\"notes\" data-rows=\"%" PRIu32 "\">\n", svg->rows->count);
	for (size_t i = 0; i < p->note_count; i++, y += LINE) {
		strbuf_clear(&line);
		strbuf_add(&line, STR("note: "));
		if (note_shows_count(&p->notes[i]))
			strbuf_printf(&line, "%" PRIu64 " ", p->notes[i].count);
		strbuf_add(&line, profile_string(p, p->notes[i].text));
		add_text_line(svg, y, "n", strbuf_str(&line));
	}
	if (svg->narrow_count) {
		strbuf_clear(&line);
		number_put(&line, svg->narrow_count);
		strbuf_add(&line, STR(" boxes are too narrow to be drawn; --focus shows a part"));
		add_text_line(svg, y, "l", strbuf_str(&line));
	}
	strbuf_add(svg->out, STR("</g>\n"));
	strbuf_deinit(&line);
}

static void end(struct svg *svg)
{
	strbuf_add(svg->out, STR("<script><![CDATA[\n"));
	strbuf_add(svg->out, (struct str){svg_flame_script, svg_flame_script_size});
	strbuf_add(svg->out, STR("]]></script>\n</svg>\n"));
}

void svg_draw(struct sink *sink, const struct report *report)
{
	struct arena *arena = arena_create();
	const struct calltree *tree = report->calltree;
	struct strbuf heading = {0};
	struct svg svg = {.sink = sink,
		.out = &sink->text,
		.report = report,
		.flame = flame_lay_out(tree,
			report->query.difference ? tree->others[DIFFERENCE_NEW] : tree, arena)};

	svg.scale = scale_for(profile_string(report->profile, report_metric(report).unit),
		svg.flame->boxes[0].width);
	svg.rows = svg_rows_create(svg.flame, width_of_10(&svg, HIDDEN_10), arena);
	svg_colours_init(&svg.colours, tree, report->tree, svg.flame);
	make_heading(&svg, &heading);
	begin(&svg, strbuf_str(&heading), report->profile->note_count + 1);
	for (uint32_t i = 0; i < svg.flame->count && sink_settle(sink); i++)
		draw_box(&svg, i);
	draw_notes(&svg);
	end(&svg);
	svg_colours_deinit(&svg.colours);
	strbuf_deinit(&heading);
	strbuf_deinit(&svg.name);
	strbuf_deinit(&svg.title);
	strbuf_deinit(&svg.text);
	arena_destroy(arena);
}
