/*
 * Searching: moves the cursor of the table of zones to the next row whose name has the text.
 */
#include <string.h>

#include "view/tui/find.h"
#include "view/tui/model_state.h"

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

		if (tui_find((struct str){label, size}, m->search.text) < 0)
			continue;
		list->cursor = row;
		tui_list_settle(list);
		tui_table_mark(m);
		return true;
	}
	return false;
}
