/* Numbers and strings of sonde's own files and of ClickHouse's RowBinary.  See wire.h. */
#include "base/wire.h"

#include <endian.h>

#include "base/leb128.h"

void wire_put_u8(struct strbuf *out, uint8_t value)
{
	strbuf_add_char(out, (char)value);
}

void wire_put_u16(struct strbuf *out, uint16_t value)
{
	value = htole16(value);
	strbuf_add(out, (struct str){(const char *)&value, sizeof(value)});
}

void wire_put_u32(struct strbuf *out, uint32_t value)
{
	value = htole32(value);
	strbuf_add(out, (struct str){(const char *)&value, sizeof(value)});
}

void wire_put_u64(struct strbuf *out, uint64_t value)
{
	value = htole64(value);
	strbuf_add(out, (struct str){(const char *)&value, sizeof(value)});
}

void wire_put_uleb(struct strbuf *out, uint64_t value)
{
	char bytes[LEB128_BYTES_MAX];

	strbuf_add(out, (struct str){bytes, uleb_encode(bytes, value)});
}

void wire_put_sleb(struct strbuf *out, int64_t value)
{
	char bytes[LEB128_BYTES_MAX];
	size_t size = 0;

	/* Arithmetic shift, until the rest is only copies of the sign bit of the last byte. */
	for (; value < -64 || value > 63; value >>= 7)
		bytes[size++] = (char)(value | 0x80);
	bytes[size++] = (char)(value & 0x7f);
	strbuf_add(out, (struct str){bytes, size});
}

void wire_put_str(struct strbuf *out, struct str s)
{
	wire_put_uleb(out, s.size);
	strbuf_add(out, s);
}

struct str wire_str(struct cursor *c)
{
	uint64_t size = wire_uleb(c);
	const uint8_t *p = cursor_bytes(c, size);

	return p ? (struct str){(const char *)p, (size_t)size} : STR("");
}

struct cursor wire_column(struct cursor *c)
{
	return cursor_sub(c, wire_uleb(c));
}

uint64_t wire_count(struct cursor *c, size_t element_bytes)
{
	uint64_t count = wire_uleb(c);

	if (count > cursor_left(c) / element_bytes) {
		cursor_fail(c, "an array is longer than what follows");
		return 0;
	}
	return count;
}
