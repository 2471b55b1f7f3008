/*
 * UTF-16 to UTF-8 (RFC 2781, RFC 3629).
 */
#include "base/utf16.h"

#include "base/escape.h"

bool utf16_has_mark(struct str s)
{
	return str_starts_with(s, STR("\xff\xfe")) || str_starts_with(s, STR("\xfe\xff"));
}

/* The 16-bit unit at byte i, or U+FFFD for half of one. */
static uint32_t unit_at(struct str s, size_t i, bool big_endian)
{
	if (i + 1 >= s.size)
		return 0xfffd;
	uint32_t first = (unsigned char)s.data[i], second = (unsigned char)s.data[i + 1];
	return big_endian ? first << 8 | second : second << 8 | first;
}

void utf16_decode(struct strbuf *out, struct str s)
{
	bool big_endian = str_starts_with(s, STR("\xfe\xff"));

	strbuf_reserve(out, s.size / 2);
	for (size_t i = 2; i < s.size; i += 2) {
		uint32_t c = unit_at(s, i, big_endian);
		if (c >= 0xd800 && c < 0xdc00 && i + 2 < s.size) {
			uint32_t low = unit_at(s, i + 2, big_endian);
			if (low >= 0xdc00 && low < 0xe000) {
				c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
				i += 2;
			}
		}
		utf8_add(out, c >= 0xd800 && c < 0xe000 ? 0xfffd : c);
	}
}
