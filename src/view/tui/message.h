#ifndef SONDE_VIEW_TUI_MESSAGE_H
#define SONDE_VIEW_TUI_MESSAGE_H

/* A message in the last line of the screen, for some seconds.  Times are as in tui_app. */

#include <stdarg.h>
#include <stdint.h>

#include "view/tui/canvas.h"

struct tui_message {
	char text[512]; /* empty: none; foreign bytes are escaped when it is drawn */
	enum tui_style style;
	uint64_t until_ms;
};

/* Replaces the message; what is longer than its room is cut. */
void tui_message_set(struct tui_message *message, uint64_t now_ms, enum tui_style style,
	const char *format, va_list args);
void tui_message_clear(struct tui_message *message);
/* Clears it when its time is over. */
void tui_message_tick(struct tui_message *message, uint64_t now_ms);
/* Milliseconds until then; UINT64_MAX: there is none. */
uint64_t tui_message_wait_ms(const struct tui_message *message, uint64_t now_ms);
void tui_message_draw(const struct tui_message *message, struct tui_canvas *canvas, unsigned y);

#endif
