/*
 * Decoding base64: four digits of six bits each are three bytes.  Bits after the last whole byte
 * are ignored, as most decoders do.
 */
#include "base/base64.h"

#include <stdint.h>

static int digit64(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (char_is_digit(c))
		return c - '0' + 52;
	if (c == '+' || c == '-')
		return 62;
	return c == '/' || c == '_' ? 63 : -1;
}

bool base64_decode(struct str text, struct strbuf *out)
{
	uint32_t bits = 0;
	unsigned count = 0;

	while (text.size && text.data[text.size - 1] == '=')
		text.size--;
	for (size_t i = 0; i < text.size; i++) {
		int digit = digit64(text.data[i]);

		if (digit < 0)
			return false;
		bits = bits << 6 | (uint32_t)digit;
		count += 6;
		if (count < 8)
			continue;
		count -= 8;
		strbuf_add_char(out, (char)(unsigned char)(bits >> count));
	}
	return text.size % 4 != 1;
}
