#ifndef SONDE_BASE_PROTOBUF_H
#define SONDE_BASE_PROTOBUF_H

/*
 * The wire format of protocol buffers (protobuf.dev/programming-guides/encoding), for reading and
 * writing: fields are pulled one by one from a cursor, and put one by one into a buffer.  No
 * message is ever built in memory, so memory use depends only on the format's reader, not on the
 * file.  From 10 MB of empty pprof samples, protobuf-c 1.4.1 builds 586 MB; for a valid profile, it
 * takes 5.3 times the file's size before the reader sees anything, and unpacking takes a third of
 * the time that sonde needs for its report.
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
	uint64_t value;	  /* for the three kinds of numbers; 0 for PROTO_BYTES */
	struct str bytes; /* for PROTO_BYTES, borrowed; empty for numbers */
	uint64_t offset;  /* of the value or bytes, in the input */
};

/* Reads the next field.  False: the end, or a fault of the cursor.  Skips groups. */
bool proto_next(struct cursor *c, struct proto_field *field);
/*
 * A cursor over the field's bytes, with offsets in the input.  If the field is a number instead of
 * a message, the cursor is empty.
 */
struct cursor proto_message(const struct cursor *c, const struct proto_field *field);
/*
 * The numbers of a repeated field, packed or not: proto_number returns them one by one. type is
 * that of packed numbers: PROTO_VARINT, PROTO_FIXED64 or PROTO_FIXED32.  A fault in packed numbers
 * is a fault of `numbers`; report it with cursor_error.
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

static inline int64_t proto_sint(uint64_t value) /* zigzag, for sint32 and sint64 */
{
	return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

/*
 * Put fields into a buffer, including those with value 0 or without bytes: callers leave these out.
 */
void proto_put_varint(struct strbuf *out, uint32_t number, uint64_t value);
void proto_put_fixed64(struct strbuf *out, uint32_t number, uint64_t value);
void proto_put_bytes(struct strbuf *out, uint32_t number, struct str bytes);
/* Puts a string: invalid UTF-8, which other readers refuse, becomes U+FFFD. */
void proto_put_string(struct strbuf *out, uint32_t number, struct str s);
/* Everything put between these two calls is in the message; pass the result of begin to end. */
size_t proto_begin(struct strbuf *out, uint32_t number);
void proto_end(struct strbuf *out, size_t begun);
/* An element of a packed field, between begin and end. */
void proto_put_packed(struct strbuf *out, uint64_t value);

#endif
