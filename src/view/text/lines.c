/*
 * Draws a view as text does, and afterwards divides what was drawn into lines.  Inks and rows are
 * noted meanwhile by the byte at which they begin, as only the drawing knows them.
 */
#include "view/text/lines.h"

#include <string.h>

#include "base/escape.h"
#include "view/views.h"

void text_lines_deinit(struct text_lines *lines)
{
	strbuf_deinit(&lines->text);
	vec_deinit(&lines->lines);
	vec_deinit(&lines->spans);
	vec_deinit(&lines->rows);
}

void text_lines_ink(struct text_lines *lines, size_t at, enum ink ink)
{
	vec_push(&lines->spans, (struct text_span){at, ink});
}

void text_lines_row(struct text_lines *lines, size_t at, size_t row)
{
	vec_push(&lines->rows, (struct text_line){.begin = at, .row = (uint32_t)row});
}

/* Headings of more lines scroll, except the title. */
#define HEAD_MAX 3

/* How much of a line without a row fits, up to a blank. */
static size_t fitting(struct str line, size_t width)
{
	size_t size = line.size;

	while (width && utf8_width((struct str){line.data, size}) > width) {
		const char *blank = memrchr(line.data, ' ', size);

		if (blank == NULL || blank == line.data)
			return line.size;
		size = (size_t)(blank - line.data);
	}
	return size;
}

/* Where the line that begins there ends. */
static size_t line_end(const struct strbuf *text, size_t begin)
{
	const char *end = memchr(text->data + begin, '\n', text->size - begin);

	return end ? (size_t)(end - text->data) : text->size;
}

static void divide(struct text_lines *lines, size_t width)
{
	size_t span = 0, row = 0;
	enum ink ink = INK_PLAIN;

	for (size_t at = 0; at < lines->text.size;) {
		size_t end = line_end(&lines->text, at);

		for (; span < lines->spans.count && lines->spans.data[span].begin <= at; span++)
			ink = lines->spans.data[span].ink;
		struct text_line line = {.begin = at,
			.end = end,
			.row = NO_ID,
			.span_begin = span,
			.ink_begin = ink};

		if (row < lines->rows.count && lines->rows.data[row].begin == at) {
			if (row == 0)
				lines->head_count = lines->lines.count;
			line.row = lines->rows.data[row++].row;
		}
		if (line.row == NO_ID && row > 0)
			line.end =
				at + fitting((struct str){lines->text.data + at, end - at}, width);
		/* The blank line above the title. */
		if (end > at || lines->lines.count > 0)
			vec_push(&lines->lines, line);
		at = line.end + 1;
	}
	if (lines->rows.count == 0 || lines->head_count > HEAD_MAX)
		lines->head_count = lines->lines.count > 0;
}

void text_lines_draw(
	struct text_lines *lines, const struct report *report, const struct text_style *style)
{
	struct sink sink;
	struct text text = {.sink = &sink, .style = style, .lines = lines};

	lines->lines.count = lines->spans.count = lines->rows.count = lines->head_count = 0;
	strbuf_deinit(&lines->text);
	sink_init_memory(&sink);
	report->query.view->draw(&text, report);
	text_notes(&text, report);
	lines->text = sink.text;
	divide(lines, style->width);
}
