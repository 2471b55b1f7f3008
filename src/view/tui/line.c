/*
 * Minimal line editing: characters are added and removed at the end, also whole words or the whole
 * line, as terminals do it.
 */
#include "view/tui/line.h"

#include <stdio.h>
#include <string.h>

#include "base/escape.h"

void tui_line_set(struct tui_line *line, struct str text)
{
	size_t size = text.size < sizeof(line->text) ? text.size : sizeof(line->text) - 1;

	memcpy(line->text, text.data, size);
	line->text[size] = '\0';
}

static void drop_character(char *text)
{
	size_t size = strlen(text);

	while (size > 0 && ((unsigned char)text[size - 1] & 0xc0) == 0x80)
		size--;
	text[size > 0 ? size - 1 : 0] = '\0';
}

static void drop_word(char *text)
{
	size_t size = strlen(text);

	while (size > 0 && text[size - 1] == ' ')
		size--;
	while (size > 0 && text[size - 1] != ' ')
		size--;
	text[size] = '\0';
}

static void add_character(struct tui_line *line, uint32_t code)
{
	struct strbuf added = {0};
	size_t size = strlen(line->text);

	utf8_add(&added, code);
	if (size + added.size < sizeof(line->text))
		memcpy(line->text + size, added.data, added.size + 1);
	strbuf_deinit(&added);
}

bool tui_line_key(struct tui_line *line, uint32_t key)
{
	if (key == TUI_KEY_BACKSPACE)
		drop_character(line->text);
	else if (key == TUI_CONTROL('u'))
		line->text[0] = '\0';
	else if (key == TUI_CONTROL('w'))
		drop_word(line->text);
	else if (key >= 0x20 && key < TUI_KEY_FIRST && !(key >= 0x7f && key < 0xa0))
		add_character(line, key);
	else
		return false;
	return true;
}

void tui_line_draw(
	const struct tui_line *line, struct tui_canvas *canvas, unsigned y, const char *label)
{
	struct strbuf text = {0};
	struct str rest;

	escape_text(&text, str_from(line->text));
	rest = strbuf_str(&text);
	unsigned x = tui_put(canvas, y, 0, canvas->width, TUI_LABEL, str_from(label));

	/* One column is for the cursor. */
	while (rest.size && x + 1 + utf8_width(rest) > canvas->width) {
		int32_t code;
		size_t size = utf8_decode(rest, &code);

		rest.data += size;
		rest.size -= size;
	}
	x = tui_put(canvas, y, x, canvas->width, TUI_PLAIN, rest);
	canvas->has_cursor = true;
	canvas->cursor_x = x < canvas->width ? x : canvas->width - 1;
	canvas->cursor_y = y;
	strbuf_deinit(&text);
}
