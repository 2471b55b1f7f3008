/*
 * Searching: letters are compared without their case if they are ASCII's, which is what names in
 * programs are made of.
 */
#include <ctype.h>
#include <string.h>

#include "view/tui/model_state.h"

static bool is_here(struct str text, size_t at, const char *needle, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (tolower((unsigned char)text.data[at + i]) != tolower((unsigned char)needle[i]))
			return false;
	return true;
}

long tui_search_find(struct str text, const char *needle)
{
	size_t size = strlen(needle);

	for (size_t at = 0; at + size <= text.size; at++)
		if (is_here(text, at, needle, size))
			return (long)at;
	return -1;
}

bool tui_search_move(struct tui_model *m, int direction, bool from_here)
{
	struct tui_list *list = &m->table.list;
	size_t count = list->count;

	if (!m->search.text[0])
		return false;
	for (size_t i = from_here ? 0 : 1; i <= count && count; i++) {
		size_t row = (list->cursor + (direction > 0 ? i : 2 * count - i)) % count;
		const struct zone_row *found = tui_table_row(m, row);
		char label[512];
		size_t size = zone_row_label(found, label, sizeof(label));

		if (tui_search_find((struct str){label, size}, m->search.text) < 0)
			continue;
		list->cursor = row;
		tui_list_settle(list);
		tui_table_mark(m);
		return true;
	}
	return false;
}
