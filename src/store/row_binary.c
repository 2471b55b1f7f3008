/* RowBinary, as ClickHouse 18 to 26 read and write it. */
#include "store/row_binary.h"

#include "base/leb128.h"

static void put_number(struct strbuf *b, uint64_t value, size_t bytes)
{
	char text[8];

	for (size_t i = 0; i < bytes; i++)
		text[i] = (char)(value >> (8 * i));
	strbuf_add(b, (struct str){text, bytes});
}

void row_put_u8(struct strbuf *b, uint8_t value)
{
	strbuf_add_char(b, (char)value);
}

void row_put_u16(struct strbuf *b, uint16_t value)
{
	put_number(b, value, sizeof(value));
}

void row_put_u32(struct strbuf *b, uint32_t value)
{
	put_number(b, value, sizeof(value));
}

void row_put_u64(struct strbuf *b, uint64_t value)
{
	put_number(b, value, sizeof(value));
}

void row_put_count(struct strbuf *b, uint64_t count)
{
	char text[LEB128_BYTES_MAX];

	strbuf_add(b, (struct str){text, uleb_encode(text, count)});
}

void row_put_string(struct strbuf *b, struct str s)
{
	row_put_count(b, s.size);
	strbuf_add(b, s);
}

struct str row_string(struct cursor *c)
{
	uint64_t size = cursor_uleb(c);
	const uint8_t *data = cursor_bytes(c, size);

	return data ? (struct str){(const char *)data, size} : STR("");
}

uint64_t row_count(struct cursor *c, size_t element_bytes)
{
	uint64_t count = cursor_uleb(c);

	if (count > cursor_left(c) / element_bytes) {
		cursor_fail(c, "an array is longer than what follows");
		return 0;
	}
	return count;
}
