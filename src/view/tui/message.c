/* What terminal views say in their last line: see message.h. */
#include "view/tui/message.h"

#include <stdio.h>

enum { SHOWN_MS = 6000 };

void tui_message_set(struct tui_message *message, uint64_t now_ms, enum tui_style style,
	const char *format, va_list args)
{
	vsnprintf(message->text, sizeof(message->text), format, args);
	message->style = style;
	message->until_ms = now_ms + SHOWN_MS;
}

void tui_message_clear(struct tui_message *message)
{
	message->text[0] = '\0';
}

void tui_message_tick(struct tui_message *message, uint64_t now_ms)
{
	if (now_ms >= message->until_ms)
		tui_message_clear(message);
}

uint64_t tui_message_wait_ms(const struct tui_message *message, uint64_t now_ms)
{
	if (!message->text[0])
		return UINT64_MAX;
	return message->until_ms > now_ms ? message->until_ms - now_ms : 0;
}

void tui_message_draw(const struct tui_message *message, struct tui_canvas *canvas, unsigned y)
{
	tui_put_name(canvas, y, 0, canvas->width, message->style, str_from(message->text));
}
