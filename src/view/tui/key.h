#ifndef SONDE_VIEW_TUI_KEY_H
#define SONDE_VIEW_TUI_KEY_H

/* Input events as the model receives them. */

#include <stdint.h>

/* A key is a character's code point, or one of these, which are above all code points. */
enum tui_key {
	TUI_KEY_NONE = 0,
	TUI_KEY_FIRST = 0x110000,
	TUI_KEY_UP = TUI_KEY_FIRST,
	TUI_KEY_DOWN,
	TUI_KEY_LEFT,
	TUI_KEY_RIGHT,
	TUI_KEY_FAR_LEFT, /* with shift */
	TUI_KEY_FAR_RIGHT,
	TUI_KEY_PAGE_UP,
	TUI_KEY_PAGE_DOWN,
	TUI_KEY_HOME,
	TUI_KEY_END,
	TUI_KEY_ENTER,
	TUI_KEY_BACKSPACE,
	TUI_KEY_ESCAPE,
	TUI_KEY_TAB,
	TUI_KEY_BACK_TAB,
	TUI_KEY_HELP, /* F1 */
	TUI_KEY_QUIT, /* F10 */
};

/* The character that a letter makes with the control key. */
#define TUI_CONTROL(letter) ((uint32_t)(letter)&0x1f)

enum tui_click {
	TUI_CLICK,
	TUI_CLICK_DOUBLE,
	TUI_WHEEL_UP,
	TUI_WHEEL_DOWN,
};

struct tui_mouse {
	enum tui_click click;
	unsigned x, y;
};

#endif
