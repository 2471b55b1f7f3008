/*
 * Boxes over the screen, and the list of keys in one, which scrolls where the screen is too low.
 */
#include "view/tui/box.h"

#include "view/tui/list.h"

struct tui_box tui_box_draw(
	struct tui_canvas *canvas, unsigned width, unsigned height, const char *title)
{
	struct tui_box box = {.width = width, .height = height};

	if (box.width + 4 > canvas->width)
		box.width = canvas->width > 4 ? canvas->width - 4 : 1;
	if (box.height + 2 > canvas->height)
		box.height = canvas->height > 2 ? canvas->height - 2 : 1;
	unsigned y = (canvas->height - box.height - 2) / 2;
	unsigned x = canvas->width > box.width + 4 ? (canvas->width - box.width - 4) / 2 : 0;
	unsigned end = x + box.width + 4, bottom = y + box.height + 1;

	for (unsigned row = y; row <= bottom; row++) {
		tui_fill(canvas, row, x, end, TUI_PLAIN);
		tui_put(canvas, row, x, end, TUI_FRAME, STR("│"));
		tui_put(canvas, row, end - 1, end, TUI_FRAME, STR("│"));
		for (unsigned i = x; i < end && (row == y || row == bottom); i++)
			tui_put(canvas, row, i, end, TUI_FRAME, STR("─"));
	}
	tui_put(canvas, y, x, end, TUI_FRAME, STR("┌"));
	tui_put(canvas, y, end - 1, end, TUI_FRAME, STR("┐"));
	tui_put(canvas, bottom, x, end, TUI_FRAME, STR("└"));
	tui_put(canvas, bottom, end - 1, end, TUI_FRAME, STR("┘"));
	tui_printf(canvas, y, x + 2, end - 2, TUI_TITLE, " %s ", title);
	canvas->has_cursor = false;
	box.y = y + 1;
	box.x = x + 2;
	return box;
}

enum { HELP_WIDTH = 72, KEY_WIDTH = 24 };

static void draw_help_line(const struct tui_help *help, struct tui_canvas *canvas,
	struct tui_box box, unsigned y, size_t line)
{
	unsigned key_width = box.width >= 60 ? KEY_WIDTH : 10, end = box.x + box.width;

	if (line >= help->key_count) {
		tui_put(canvas, y, box.x, end, TUI_DIM,
			str_from(help->notes[line - help->key_count]));
		return;
	}
	tui_put(canvas, y, box.x, box.x + key_width - 1, TUI_KEY, str_from(help->keys[line].key));
	tui_put(canvas, y, box.x + key_width, end, TUI_PLAIN, str_from(help->keys[line].does));
}

void tui_help_draw(
	const struct tui_help *help, struct tui_help_state *state, struct tui_canvas *canvas)
{
	size_t lines = help->key_count + help->note_count;
	struct tui_box box = tui_box_draw(canvas, HELP_WIDTH, (unsigned)lines, help->title);

	if (state->top + box.height > lines)
		state->top = lines - box.height;
	for (unsigned i = 0; i < box.height; i++)
		draw_help_line(help, canvas, box, box.y + i, state->top + i);
	struct tui_list list = {
		.count = lines, .top = state->top, .y = box.y, .height = box.height};

	tui_list_draw_bar(&list, canvas, box.x + box.width + 1);
	state->page = box.height;
}

bool tui_help_key(const struct tui_help *help, struct tui_help_state *state, uint32_t key)
{
	size_t lines = help->key_count + help->note_count;
	struct tui_list list = {.count = lines, .cursor = state->top, .height = state->page};
	size_t last = lines > state->page ? lines - state->page : 0;

	if (!tui_list_key(&list, key)) {
		state->top = 0;
		return false;
	}
	state->top = list.cursor < last ? list.cursor : last;
	return true;
}
