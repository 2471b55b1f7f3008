#ifndef SONDE_BASE_PROTOBUF_H
#define SONDE_BASE_PROTOBUF_H

/*
 * The wire format of protocol buffers (protobuf.dev/programming-guides/encoding), both ends: fields
 * pulled one by one out of a cursor, and put one by one into a buffer.  No message is ever built in
 * memory, so a file cannot ask for more of it than the reader of the format gives. protobuf-c 1.4.1
 * makes 586 MB of 10 MB of empty pprof samples, and takes 5.3 times the size of a good profile
 * before its reader has seen anything; unpacking it costs a third of what sonde takes to report it.
 *
 *	while (proto_next(&c, &field))
 *		switch (field.number) {
 *		case 1: id = field.value; break;
 *		case 2: values = proto_numbers(&c, &field); break;
 *		case 3: read_line(proto_message(&c, &field)); break;
 *		}
 *	err = cursor_error(&c);
 */

#include "base/cursor.h"
#include "base/str.h"

enum proto_type {
	PROTO_VARINT = 0,
	PROTO_FIXED64 = 1,
	PROTO_BYTES = 2,
	PROTO_FIXED32 = 5,
};

struct proto_field {
	uint32_t number;
	enum proto_type type;
	uint64_t value;	  /* of the three kinds of numbers; 0 of PROTO_BYTES */
	struct str bytes; /* of PROTO_BYTES, borrowed; empty of numbers */
	uint64_t offset;  /* of the value, or of the bytes, in the input */
};

/* The next field.  False: the end, or a fault of the cursor.  Groups are passed over. */
bool proto_next(struct cursor *c, struct proto_field *field);
/* The field's bytes, as a cursor of their own, whose offsets are those of the input.  A number
 * where a message should be is an empty one. */
struct cursor proto_message(const struct cursor *c, const struct proto_field *field);
/*
 * The numbers of a repeated field, packed or not: proto_number gives one after the other.  type:
 * PROTO_VARINT, PROTO_FIXED64 or PROTO_FIXED32, what packed ones are.  A fault among packed ones is
 * one of `numbers`; hand it on with cursor_error.
 */
struct proto_numbers {
	struct cursor packed;
	uint64_t single;
	bool has_single;
	enum proto_type type;
};
struct proto_numbers proto_numbers(
	const struct cursor *c, const struct proto_field *field, enum proto_type type);
bool proto_number(struct proto_numbers *numbers, uint64_t *value);

static inline int64_t proto_sint(uint64_t value) /* zigzag, of sint32 and sint64 */
{
	return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

/* Fields put into a buffer.  Those of value 0 or no bytes are put, too: leave them out before. */
void proto_put_varint(struct strbuf *out, uint32_t number, uint64_t value);
void proto_put_fixed64(struct strbuf *out, uint32_t number, uint64_t value);
void proto_put_bytes(struct strbuf *out, uint32_t number, struct str bytes);
/* A string: bytes that are not UTF-8, which others refuse, become U+FFFD. */
void proto_put_string(struct strbuf *out, uint32_t number, struct str s);
/* Between these two all that is put is the message's; begin's result goes to end. */
size_t proto_begin(struct strbuf *out, uint32_t number);
void proto_end(struct strbuf *out, size_t begun);
/* An element of a packed field, between begin and end. */
void proto_put_packed(struct strbuf *out, uint64_t value);

#endif
