/*
 * UTF-16 to UTF-8 (RFC 2781, RFC 3629).
 */
#include "base/utf16.h"

#include "base/escape.h"

/* The number of bytes inspected if there is no mark. */
#define LOOK_BYTES ((size_t)512)

enum utf16_order utf16_order(struct str s)
{
	size_t zeros[2] = {0};
	size_t pairs = (s.size < LOOK_BYTES ? s.size : LOOK_BYTES) / 2;

	if (str_starts_with(s, STR("\xff\xfe")))
		return UTF16_LITTLE;
	if (str_starts_with(s, STR("\xfe\xff")))
		return UTF16_BIG;
	for (size_t i = 0; i < 2 * pairs; i++)
		zeros[i % 2] += s.data[i] == '\0';
	if (pairs < 2)
		return UTF16_NONE;
	if (zeros[0] == 0 && zeros[1] * 4 >= pairs * 3)
		return UTF16_LITTLE;
	if (zeros[1] == 0 && zeros[0] * 4 >= pairs * 3)
		return UTF16_BIG;
	return UTF16_NONE;
}

/* The 16-bit unit at byte i, or U+FFFD for half of one. */
static uint32_t unit_at(struct str s, size_t i, bool big_endian)
{
	if (i + 1 >= s.size)
		return 0xfffd;
	uint32_t first = (unsigned char)s.data[i], second = (unsigned char)s.data[i + 1];
	return big_endian ? first << 8 | second : second << 8 | first;
}

void utf16_decode(struct strbuf *out, struct str s, enum utf16_order order)
{
	bool big_endian = order == UTF16_BIG;
	size_t start = s.size > 1 && unit_at(s, 0, big_endian) == 0xfeff ? 2 : 0;

	strbuf_reserve(out, s.size / 2);
	for (size_t i = start; i < s.size; i += 2) {
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
