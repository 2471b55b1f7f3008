/*
 * The wire format of protocol buffers.  See protobuf.h.
 *
 * A field is a varint of (number << 3 | type), then its value.  Deprecated groups (types 3 and 4)
 * are skipped by counting their starts and ends, so that nesting costs no stack.
 */
#include "base/protobuf.h"

#include "base/escape.h"
#include "base/leb128.h"

enum { TYPE_GROUP_START = 3, TYPE_GROUP_END = 4 };

static inline uint64_t read_varint(struct cursor *c)
{
	if (likely(c->at < c->end && *c->at < 0x80))
		return *c->at++;
	if (likely(cursor_left(c) >= 2 && c->at[1] < 0x80)) {
		uint64_t value = (uint64_t)(c->at[0] & 0x7f) | (uint64_t)c->at[1] << 7;
		c->at += 2;
		return value;
	}
	return cursor_uleb(c);
}

/* Reads the value of a field of one of the four types; false: another type. */
static bool read_value(struct cursor *c, struct proto_field *field)
{
	field->offset = cursor_offset(c);
	switch (field->type) {
	case PROTO_VARINT:
		field->value = read_varint(c);
		return true;
	case PROTO_FIXED64:
		field->value = cursor_u64(c);
		return true;
	case PROTO_FIXED32:
		field->value = cursor_u32(c);
		return true;
	case PROTO_BYTES: {
		uint64_t size = read_varint(c);
		field->offset = cursor_offset(c);
		const uint8_t *bytes = cursor_bytes(c, size);
		if (bytes)
			field->bytes = (struct str){(const char *)bytes, (size_t)size};
		return true;
	}
	default:
		return false;
	}
}

bool proto_next(struct cursor *c, struct proto_field *field)
{
	size_t groups = 0;

	while (cursor_ok(c) && !cursor_at_end(c)) {
		const uint8_t *before = c->at;
		uint64_t tag = read_varint(c);
		unsigned int type = tag & 7;

		*field = (struct proto_field){.number = (uint32_t)(tag >> 3),
			.type = (enum proto_type)type,
			.bytes = STR("")};
		if (!cursor_ok(c))
			return false;
		if (tag >> 3 == 0 || tag >> 3 > (UINT64_C(1) << 29) - 1) {
			c->at = before;
			cursor_fail(c, "no field has this number");
		} else if (type == TYPE_GROUP_START) {
			groups++;
		} else if (type == TYPE_GROUP_END && groups) {
			groups--;
		} else if (!read_value(c, field)) {
			c->at = before;
			cursor_fail(c, "no field is of this type");
		} else if (groups == 0) {
			return cursor_ok(c);
		}
	}
	if (groups && cursor_ok(c))
		cursor_fail(c, "the data is truncated here");
	return false;
}

struct cursor proto_message(const struct cursor *c, const struct proto_field *field)
{
	struct cursor message;

	cursor_init(&message, field->bytes.data, field->bytes.size, c->name, field->offset);
	return message;
}

struct proto_numbers proto_numbers(
	const struct cursor *c, const struct proto_field *field, enum proto_type type)
{
	return (struct proto_numbers){.packed = proto_message(c, field),
		.single = field->value,
		.has_single = field->type != PROTO_BYTES,
		.type = type};
}

bool proto_number(struct proto_numbers *numbers, uint64_t *value)
{
	struct cursor *c = &numbers->packed;

	if (numbers->has_single) {
		*value = numbers->single;
		numbers->has_single = false;
		return true;
	}
	if (!cursor_ok(c) || cursor_at_end(c))
		return false;
	if (numbers->type == PROTO_FIXED64)
		*value = cursor_u64(c);
	else if (numbers->type == PROTO_FIXED32)
		*value = cursor_u32(c);
	else
		*value = read_varint(c);
	return cursor_ok(c);
}

void proto_put_packed(struct strbuf *out, uint64_t value)
{
	char bytes[LEB128_BYTES_MAX];

	strbuf_add(out, (struct str){bytes, uleb_encode(bytes, value)});
}

static void put_tag(struct strbuf *out, uint32_t number, enum proto_type type)
{
	proto_put_packed(out, (uint64_t)number << 3 | type);
}

void proto_put_varint(struct strbuf *out, uint32_t number, uint64_t value)
{
	put_tag(out, number, PROTO_VARINT);
	proto_put_packed(out, value);
}

void proto_put_fixed64(struct strbuf *out, uint32_t number, uint64_t value)
{
	char bytes[8];

	put_tag(out, number, PROTO_FIXED64);
	for (unsigned int i = 0; i < 8; i++)
		bytes[i] = (char)(value >> 8 * i);
	strbuf_add(out, (struct str){bytes, sizeof(bytes)});
}

void proto_put_bytes(struct strbuf *out, uint32_t number, struct str bytes)
{
	put_tag(out, number, PROTO_BYTES);
	proto_put_packed(out, bytes.size);
	strbuf_add(out, bytes);
}

void proto_put_string(struct strbuf *out, uint32_t number, struct str s)
{
	size_t begun = proto_begin(out, number);

	while (s.size) {
		int32_t code_point;
		size_t size = utf8_decode(s, &code_point);
		strbuf_add(out, code_point < 0 ? STR("\xef\xbf\xbd") : (struct str){s.data, size});
		s = (struct str){s.data + size, s.size - size};
	}
	proto_end(out, begun);
}

/* Reserves one byte for the length, which is usually enough; proto_end makes room for more. */
size_t proto_begin(struct strbuf *out, uint32_t number)
{
	put_tag(out, number, PROTO_BYTES);
	strbuf_add_char(out, 0);
	return out->size;
}

void proto_end(struct strbuf *out, size_t begun)
{
	uint64_t size = out->size - begun;
	size_t more = 0;

	for (uint64_t rest = size >> 7; rest; rest >>= 7)
		more++;
	if (more) {
		strbuf_add(out, (struct str){"\0\0\0\0\0\0\0\0\0", more});
		memmove(out->data + begun + more, out->data + begun, (size_t)size);
	}
	(void)uleb_encode(out->data + begun - 1, size);
}
