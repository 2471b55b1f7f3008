/*
 * The text of an input.  See text_input.h.
 */
#include "formats/common/text_input.h"

#include "base/utf16.h"

struct str text_input(const uint8_t *data, size_t size, struct strbuf *buffer)
{
	struct str text = {(const char *)data, size};
	enum utf16_order order = utf16_order(text);

	if (order != UTF16_NONE) {
		utf16_decode(buffer, text, order);
		return strbuf_str(buffer);
	}
	if (str_starts_with(text, STR("\xef\xbb\xbf")))
		return (struct str){text.data + 3, size - 3};
	return text;
}

struct str text_input_start(const uint8_t *data, size_t size, size_t most, struct strbuf *buffer)
{
	struct str start = {(const char *)data, size < most ? size : most};
	struct str text = text_input(data, start.size, buffer);

	if (text.data >= start.data && text.data <= start.data + start.size &&
		memchr(start.data, '\0', start.size) != NULL)
		return STR("");
	const char *newline = text.size ? memrchr(text.data, '\n', text.size) : NULL;
	if (size > most && newline)
		text.size = (size_t)(newline - text.data) + 1;
	return text;
}

bool text_input_is_plain(const uint8_t *data, size_t size)
{
	enum { ENOUGH = 4096 };

	for (size_t i = 0; i < size && i < ENOUGH; i++)
		if (data[i] == 0x7f ||
			(data[i] < ' ' && data[i] != '\t' && data[i] != '\n' && data[i] != '\r'))
			return false;
	return size > 0;
}
