/*
 * Lists that are longer than the screen: the cursor stays in sight, and the list moves no more than
 * that needs.
 */
#include "view/tui/list.h"

void tui_list_settle(struct tui_list *list)
{
	size_t height = list->height ? list->height : 1;

	if (list->cursor >= list->count)
		list->cursor = list->count ? list->count - 1 : 0;
	if (list->top + height > list->count)
		list->top = list->count > height ? list->count - height : 0;
	if (list->cursor < list->top)
		list->top = list->cursor;
	if (list->cursor >= list->top + height)
		list->top = list->cursor - height + 1;
}

void tui_list_move(struct tui_list *list, long by)
{
	size_t distance = by < 0 ? (size_t)-by : (size_t)by;
	size_t last = list->count ? list->count - 1 : 0;

	tui_list_settle(list);
	if (by < 0)
		list->cursor -= distance < list->cursor ? distance : list->cursor;
	else
		list->cursor = distance < last - list->cursor ? list->cursor + distance : last;
	tui_list_settle(list);
}

bool tui_list_key(struct tui_list *list, uint32_t key)
{
	long page = list->height > 2 ? (long)list->height - 1 : 1;

	if (key == TUI_KEY_UP || key == 'k')
		tui_list_move(list, -1);
	else if (key == TUI_KEY_DOWN || key == 'j')
		tui_list_move(list, 1);
	else if (key == TUI_KEY_PAGE_UP)
		tui_list_move(list, -page);
	else if (key == TUI_KEY_PAGE_DOWN)
		tui_list_move(list, page);
	else if (key == TUI_KEY_HOME)
		tui_list_move(list, -(long)list->count);
	else if (key == TUI_KEY_END)
		tui_list_move(list, (long)list->count);
	else
		return false;
	return true;
}

bool tui_list_at(const struct tui_list *list, unsigned y, size_t *row)
{
	if (y < list->y || y >= list->y + list->height || list->top + (y - list->y) >= list->count)
		return false;
	*row = list->top + (y - list->y);
	return true;
}

void tui_list_draw_bar(const struct tui_list *list, struct tui_canvas *canvas, unsigned x)
{
	if (list->count <= list->height || list->height < 2)
		return;
	size_t size = list->height * (size_t)list->height / list->count;
	size_t room = list->count - list->height;

	if (size < 1)
		size = 1;
	size_t start = (list->top * (list->height - size) + room / 2) / room;

	for (size_t i = 0; i < list->height; i++) {
		bool is_part = i >= start && i < start + size;

		tui_put(canvas, list->y + (unsigned)i, x, x + 1, TUI_DIM,
			is_part ? STR("█") : STR("│"));
	}
}
