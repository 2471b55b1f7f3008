#ifndef SONDE_TESTS_LATER_FIELDS_H
#define SONDE_TESTS_LATER_FIELDS_H

/*
 * Adds fields that no version has yet, of each type, to a message of protocol buffers and to those
 * in it.
 */

#include "base/protobuf.h"

struct message_shape {
	uint32_t most; /* the highest number of a field */
	/* Of the messages in it, by their fields' numbers; NULL: no message. */
	const struct message_shape *const *inner;
};

static inline void put_later_fields(struct strbuf *out, uint32_t number)
{
	proto_put_varint(out, number, 300);
	proto_put_fixed64(out, number + 1, 5);
	proto_put_bytes(out, number + 2, STR("later \001 version"));
	proto_put_varint(out, 5000, 1);
}

static inline void put_with_later_fields(
	struct strbuf *out, struct str message, const struct message_shape *shape)
{
	struct proto_field field;
	struct cursor c;

	cursor_init(&c, message.data, message.size, "", 0);
	while (proto_next(&c, &field)) {
		const struct message_shape *inner = shape->inner && field.number <= shape->most
							    ? shape->inner[field.number]
							    : NULL;
		if (field.type == PROTO_VARINT) {
			proto_put_varint(out, field.number, field.value);
		} else if (field.type == PROTO_FIXED64) {
			proto_put_fixed64(out, field.number, field.value);
		} else if (inner) {
			size_t begun = proto_begin(out, field.number);
			put_with_later_fields(out, field.bytes, inner);
			proto_end(out, begun);
		} else {
			proto_put_bytes(out, field.number, field.bytes);
		}
	}
	if (message.size)
		put_later_fields(out, shape->most + 1);
}

#endif
