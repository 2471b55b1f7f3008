/* The last line of a screen: what the most useful keys do. */
#include "view/tui/bar.h"

#include "base/escape.h"

void tui_bar_draw(
	struct tui_canvas *canvas, unsigned y, const struct tui_key_help *keys, size_t count)
{
	unsigned x = 0;

	for (size_t i = 0; i < count; i++) {
		struct str key = str_from(keys[i].key), does = str_from(keys[i].does);

		if (x + utf8_width(key) + does.size + 1 > canvas->width)
			break;
		x = tui_put(canvas, y, x, canvas->width, TUI_KEY, key);
		x = tui_put(canvas, y, x + 1, canvas->width, TUI_DIM, does) + 2;
	}
}
