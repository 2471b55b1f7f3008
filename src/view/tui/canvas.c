/*
 * The screen in memory.  A character of two columns takes two cells, the second of width 0; one
 * that would be half outside is left out.  Combining characters join the previous cell.  There
 * should be no control characters here, after escape_text; as a last defence they become '?', so
 * that no name in a program can send commands to the terminal.
 */
#include "view/tui/canvas.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/escape.h"
#include "view/text/fit.h"

enum { SIDE_MAX = 1000 };

void tui_canvas_init(struct tui_canvas *canvas)
{
	*canvas = (struct tui_canvas){.utf8 = true};
}

void tui_canvas_deinit(struct tui_canvas *canvas)
{
	free(canvas->cell);
	*canvas = (struct tui_canvas){0};
}

static unsigned clamp_side(unsigned side)
{
	return side < 1 ? 1 : side > SIDE_MAX ? SIDE_MAX : side;
}

void tui_canvas_clear(struct tui_canvas *canvas, unsigned width, unsigned height)
{
	width = clamp_side(width);
	height = clamp_side(height);
	if (width != canvas->width || height != canvas->height)
		canvas->cell =
			xrealloc_array(canvas->cell, (size_t)width * height, sizeof(*canvas->cell));
	canvas->width = width;
	canvas->height = height;
	canvas->has_cursor = false;
	for (size_t i = 0; i < (size_t)width * height; i++)
		canvas->cell[i] = (struct tui_cell){.code = {' '}, .width = 1};
}

static struct tui_cell *cell_at(struct tui_canvas *canvas, unsigned y, unsigned x)
{
	return &canvas->cell[(size_t)y * canvas->width + x];
}

/* The ASCII replacement of our own symbols. */
static uint32_t ascii_of(uint32_t code)
{
	static const struct {
		uint32_t code;
		char ascii;
	} signs[] = {
		{0x2026, '~'},
		{0x2502, '|'},
		{0x2500, '-'},
		{0x250c, '+'},
		{0x2510, '+'},
		{0x2514, '+'},
		{0x2518, '+'},
		{0x251c, '+'},
		{0x25b2, '^'},
		{0x25bc, 'v'},
		{0x25c0, '<'},
		{0x25b6, '>'},
		{0x2191, '^'},
		{0x2193, 'v'},
		{0x2190, '<'},
		{0x2192, '>'},
		{0xb7, '.'},
		{0xb1, '~'},
		{0x2205, '0'},
		{0x21ba, '@'},
		{0x2581, '_'},
		{0x2582, '_'},
		{0x2583, '.'},
		{0x2584, '='},
		{0x2585, '='},
		{0x2586, '#'},
		{0x2587, '#'},
		{0x2588, '#'},
	};

	for (size_t i = 0; i < ARRAY_SIZE(signs); i++)
		if (signs[i].code == code)
			return (unsigned char)signs[i].ascii;
	return '?';
}

static uint32_t shown_code(const struct tui_canvas *canvas, int32_t code)
{
	if (code < 0)
		return canvas->utf8 ? 0xfffd : '?';
	if (code < 0x20 || (code >= 0x7f && code < 0xa0))
		return '?';
	return code < 0x7f || canvas->utf8 ? (uint32_t)code : ascii_of((uint32_t)code);
}

static void combine(struct tui_canvas *canvas, unsigned y, unsigned x, uint32_t code)
{
	if (x == 0 || !canvas->utf8)
		return;
	struct tui_cell *cell = cell_at(canvas, y, x - 1);

	if (cell->width == 0 && x > 1)
		cell--;
	for (size_t i = 1; i < ARRAY_SIZE(cell->code); i++)
		if (!cell->code[i]) {
			cell->code[i] = code;
			return;
		}
}

/* Clears the other half of a wide character when cell x is overwritten. */
static void part_wide(struct tui_canvas *canvas, unsigned y, unsigned x)
{
	struct tui_cell *cell = cell_at(canvas, y, x);

	if (cell->width == 0 && x > 0) {
		cell[-1].code[0] = ' ';
		cell[-1].code[1] = cell[-1].code[2] = 0;
		cell[-1].width = 1;
	}
	if (cell->width == 2 && x + 1 < canvas->width) {
		cell[1].code[0] = ' ';
		cell[1].width = 1;
	}
}

static void set_cell(struct tui_canvas *canvas, unsigned y, unsigned x, uint32_t code,
	unsigned width, enum tui_style style)
{
	struct tui_cell *cell = cell_at(canvas, y, x);
	uint8_t selected = cell->selected;

	for (unsigned i = 0; i < width; i++) {
		part_wide(canvas, y, x + i);
		cell[i] = (struct tui_cell){.code = {i ? 0 : code},
			.style = (uint8_t)style,
			.selected = selected,
			.width = (uint8_t)(i ? 0 : width)};
	}
}

unsigned tui_put(struct tui_canvas *canvas, unsigned y, unsigned x, unsigned end,
	enum tui_style style, struct str text)
{
	if (y >= canvas->height)
		return x;
	if (end > canvas->width)
		end = canvas->width;
	while (text.size) {
		int32_t decoded;
		size_t size = utf8_decode(text, &decoded);
		uint32_t code = shown_code(canvas, decoded);
		size_t width = decoded < 0x20 ? 1 : utf8_width((struct str){text.data, size});

		text.data += size;
		text.size -= size;
		if (width == 0) {
			if (x <= end)
				combine(canvas, y, x, code);
			continue;
		}
		if (x + width > end)
			break;
		if (!canvas->utf8)
			for (unsigned i = 1; i < width; i++)
				set_cell(canvas, y, x + i, '?', 1, style);
		set_cell(canvas, y, x, code, canvas->utf8 ? (unsigned)width : 1, style);
		x += (unsigned)width;
	}
	return x;
}

unsigned tui_printf(struct tui_canvas *canvas, unsigned y, unsigned x, unsigned end,
	enum tui_style style, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return tui_put(canvas, y, x, end, style, str_from(text));
}

unsigned tui_put_name(struct tui_canvas *canvas, unsigned y, unsigned x, unsigned end,
	enum tui_style style, struct str name)
{
	struct strbuf escaped = {0}, fitted = {0};

	if (end > canvas->width)
		end = canvas->width;
	if (x >= end)
		return x;
	escape_text(&escaped, name);
	fit_text(&fitted, strbuf_str(&escaped), end - x, canvas->utf8);
	x = tui_put(canvas, y, x, end, style, strbuf_str(&fitted));
	strbuf_deinit(&escaped);
	strbuf_deinit(&fitted);
	return x;
}

void tui_put_right(struct tui_canvas *canvas, unsigned y, unsigned x, unsigned end,
	enum tui_style style, struct str text)
{
	size_t width = utf8_width(text);

	if (end > canvas->width || x >= end)
		return;
	if (width > end - x)
		for (unsigned i = x; i < end; i++)
			tui_put(canvas, y, i, end, style, STR("#"));
	else
		tui_put(canvas, y, end - (unsigned)width, end, style, text);
}

void tui_fill(struct tui_canvas *canvas, unsigned y, unsigned x, unsigned end, enum tui_style style)
{
	if (y >= canvas->height)
		return;
	for (; x < end && x < canvas->width; x++)
		set_cell(canvas, y, x, ' ', 1, style);
}

void tui_put_bar(struct tui_canvas *canvas, unsigned y, unsigned x, unsigned end,
	enum tui_style style, double part)
{
	static const char *const blocks[] = {"▏", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
	double eighths = (part > 1 ? 1 : part) * (end > x ? end - x : 0) * 8;
	unsigned count = eighths > 0 ? (unsigned)(eighths + 0.5) : 0;

	for (; count >= 8; count -= 8)
		x = tui_put(canvas, y, x, end, style, STR("█"));
	if (count && canvas->utf8)
		tui_put(canvas, y, x, end, style, str_from(blocks[count]));
}

void tui_select(struct tui_canvas *canvas, unsigned y, unsigned x, unsigned end)
{
	if (y >= canvas->height)
		return;
	for (; x < end && x < canvas->width; x++)
		cell_at(canvas, y, x)->selected = 1;
}

void tui_restyle(
	struct tui_canvas *canvas, unsigned y, unsigned x, unsigned end, enum tui_style style)
{
	if (y >= canvas->height)
		return;
	for (; x < end && x < canvas->width; x++)
		cell_at(canvas, y, x)->style = (uint8_t)style;
}

void tui_canvas_row(const struct tui_canvas *canvas, unsigned y, struct strbuf *out)
{
	const struct tui_cell *row = &canvas->cell[(size_t)y * canvas->width];
	unsigned end = canvas->width;

	while (end && row[end - 1].code[0] == ' ')
		end--;
	for (unsigned x = 0; x < end; x++)
		for (size_t i = 0; i < ARRAY_SIZE(row[x].code); i++)
			if (row[x].code[i])
				utf8_add(out, row[x].code[i]);
}
