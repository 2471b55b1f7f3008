/*
 * DWARF's basic encodings (DWARF 5 section 7).
 */
#include "dwarf_bytes.h"

static void put(struct strbuf *out, const void *data, size_t size)
{
	strbuf_add(out, (struct str){data, size});
}

void put_u8(struct strbuf *out, unsigned int value)
{
	uint8_t v = (uint8_t)value;

	put(out, &v, sizeof(v));
}

void put_u16(struct strbuf *out, unsigned int value)
{
	uint16_t v = (uint16_t)value;

	put(out, &v, sizeof(v));
}

void put_u32(struct strbuf *out, uint64_t value)
{
	uint32_t v = (uint32_t)value;

	put(out, &v, sizeof(v));
}

void put_u64(struct strbuf *out, uint64_t value)
{
	put(out, &value, sizeof(value));
}

void put_uleb(struct strbuf *out, uint64_t value)
{
	for (; value > 0x7f; value >>= 7)
		put_u8(out, (unsigned int)(value & 0x7f) | 0x80);
	put_u8(out, (unsigned int)value);
}

void put_sleb(struct strbuf *out, int64_t value)
{
	for (;;) {
		unsigned int bits = (unsigned int)(value & 0x7f);
		value >>= 7;
		if ((value == 0 && !(bits & 0x40)) || (value == -1 && (bits & 0x40))) {
			put_u8(out, bits);
			return;
		}
		put_u8(out, bits | 0x80);
	}
}

void put_string(struct strbuf *out, const char *s)
{
	put(out, s, strlen(s) + 1);
}

size_t put_length_begin(struct strbuf *out)
{
	put_u32(out, 0);
	return out->size;
}

void put_length_end(struct strbuf *out, size_t begin)
{
	uint32_t length = (uint32_t)(out->size - begin);

	memcpy(out->data + begin - sizeof(length), &length, sizeof(length));
}

void put_abbrev(struct strbuf *out, uint64_t code, unsigned int tag, int has_children,
	const uint16_t (*attrs)[2])
{
	put_uleb(out, code);
	put_uleb(out, tag);
	put_u8(out, has_children != 0);
	for (; (*attrs)[0]; attrs++) {
		put_uleb(out, (*attrs)[0]);
		put_uleb(out, (*attrs)[1]);
	}
	put_u16(out, 0);
}
