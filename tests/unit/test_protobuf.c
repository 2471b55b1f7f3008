/*
 * The wire format of protocol buffers: bytes worked out by hand from the encoding guide, both ways.
 */
#include <stdlib.h>

#include "base/protobuf.h"
#include "../unit.h"

#define CURSOR(c, literal) cursor_init((c), (literal), sizeof(literal) - 1, "t", 0)

static void expect_bytes(struct strbuf *b, struct str expected)
{
	assert_int_equal(b->size, expected.size);
	assert_memory_equal(strbuf_str(b).data, expected.data, expected.size);
	strbuf_deinit(b);
}

TEST(reads_each_type)
{
	struct cursor c;
	struct proto_field f;

	/* The guide's own examples: 1: 150, 2: "testing"; then 3: fixed64, 4: fixed32. */
	CURSOR(&c, "\x08\x96\x01\x12\x07testing\x19\1\2\3\4\5\6\7\x88\x25\x01\0\0\x80");
	assert_true(proto_next(&c, &f));
	assert_int_equal(f.number, 1);
	assert_int_equal(f.type, PROTO_VARINT);
	assert_int_equal(f.value, 150);
	assert_int_equal(f.offset, 1);
	assert_int_equal(f.bytes.size, 0);
	assert_true(proto_next(&c, &f));
	assert_int_equal(f.number, 2);
	assert_int_equal(f.type, PROTO_BYTES);
	assert_true(str_equal(f.bytes, STR("testing")));
	assert_int_equal(f.offset, 5);
	assert_true(proto_next(&c, &f));
	assert_int_equal(f.number, 3);
	assert_int_equal(f.type, PROTO_FIXED64);
	assert_true(f.value == UINT64_C(0x8807060504030201));
	assert_true(proto_next(&c, &f));
	assert_int_equal(f.number, 4);
	assert_int_equal(f.type, PROTO_FIXED32);
	assert_int_equal(f.value, 0x80000001);
	assert_false(proto_next(&c, &f));
	assert_null(cursor_error(&c));
}

TEST(reads_long_varints)
{
	struct cursor c;
	struct proto_field f;

	/* -1 as an int64, then field 2^29 - 1 with 128, then a one that is longer than need be. */
	CURSOR(&c, "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
		   "\xf8\xff\xff\xff\x0f\x80\x01"
		   "\x10\x81\x80\x80\x00");
	assert_true(proto_next(&c, &f));
	assert_true(f.value == UINT64_MAX);
	assert_true(proto_next(&c, &f));
	assert_int_equal(f.number, (1 << 29) - 1);
	assert_int_equal(f.value, 128);
	assert_true(proto_next(&c, &f));
	assert_int_equal(f.number, 2);
	assert_int_equal(f.value, 1);
	assert_false(proto_next(&c, &f));
	assert_null(cursor_error(&c));
}

/* The numbers of each field of the number 4 in turn, packed and single mixed. */
TEST(reads_repeated_numbers)
{
	static const uint64_t expected[] = {3, 270, 86942, 7, 1};
	struct cursor c;
	struct proto_field f;
	uint64_t value;
	size_t count = 0;

	CURSOR(&c, "\x22\x06\x03\x8e\x02\x9e\xa7\x05\x20\x07\x22\x00\x20\x01");
	while (proto_next(&c, &f)) {
		struct proto_numbers numbers = proto_numbers(&c, &f, PROTO_VARINT);
		while (proto_number(&numbers, &value))
			assert_int_equal(value, expected[count++]);
		assert_null(cursor_error(&numbers.packed));
	}
	assert_null(cursor_error(&c));
	assert_int_equal(count, 5);
}

TEST(reads_packed_fixed)
{
	struct cursor c;
	struct proto_field f;
	uint64_t value;

	CURSOR(&c, "\x0a\x10\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\x12\x04\x05\0\0\0");
	assert_true(proto_next(&c, &f));
	struct proto_numbers numbers = proto_numbers(&c, &f, PROTO_FIXED64);
	assert_true(proto_number(&numbers, &value) && value == 1);
	assert_true(proto_number(&numbers, &value) && value == 2);
	assert_false(proto_number(&numbers, &value));
	assert_true(proto_next(&c, &f));
	numbers = proto_numbers(&c, &f, PROTO_FIXED32);
	assert_true(proto_number(&numbers, &value) && value == 5);
	assert_false(proto_number(&numbers, &value));
	assert_null(cursor_error(&numbers.packed));
}

TEST(packed_numbers_that_are_cut)
{
	struct cursor c;
	struct proto_field f;
	uint64_t value;

	CURSOR(&c, "\x22\x02\x01\x80");
	assert_true(proto_next(&c, &f));
	struct proto_numbers numbers = proto_numbers(&c, &f, PROTO_VARINT);
	assert_true(proto_number(&numbers, &value) && value == 1);
	assert_false(proto_number(&numbers, &value));
	struct error *err = cursor_error(&numbers.packed);
	assert_non_null(err);
	error_destroy(err);
}

TEST(messages_have_offsets_of_the_input)
{
	struct cursor c;
	struct proto_field outer, inner;

	CURSOR(&c, "\x08\x01\x12\x06\x0a\x04\x08\x05\x10\x80");
	assert_true(proto_next(&c, &outer));
	assert_true(proto_next(&c, &outer));
	struct cursor message = proto_message(&c, &outer);
	assert_true(proto_next(&message, &inner));
	assert_int_equal(inner.offset, 6);
	struct cursor deepest = proto_message(&message, &inner);
	assert_true(proto_next(&deepest, &inner));
	assert_int_equal(inner.value, 5);
	assert_false(proto_next(&deepest, &inner));
	struct error *err = cursor_error(&deepest);
	assert_non_null(err);
	assert_non_null(strstr(err->message, "0xa")); /* where the data end */
	error_destroy(err);
	/* A number where a message should be. */
	CURSOR(&c, "\x10\x05");
	assert_true(proto_next(&c, &outer));
	message = proto_message(&c, &outer);
	assert_false(proto_next(&message, &inner));
	assert_null(cursor_error(&message));
}

TEST(groups_are_skipped)
{
	struct cursor c;
	struct proto_field f;

	/* 1: { 2: 5  3: { } } 4: 7 */
	CURSOR(&c, "\x0b\x10\x05\x1b\x1c\x0c\x20\x07");
	assert_true(proto_next(&c, &f));
	assert_int_equal(f.number, 4);
	assert_int_equal(f.value, 7);
	assert_false(proto_next(&c, &f));
	assert_null(cursor_error(&c));
}

TEST(refuses)
{
	static const struct str bad[] = {
		STR("\x08"),			  /* no value */
		STR("\x08\x80"),		  /* half a varint */
		STR("\x12\x05testi\x12\x05test"), /* a string longer than what is left */
		STR("\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),   /* 2^64 - 1 bytes */
		STR("\x09\1\2\3"), STR("\x0d\1\2\3"), STR("\x00\x01"), /* field 0 */
		STR("\x80\x80\x80\x80\x10\x01"),		       /* field 2^29 */
		STR("\x0e\x01"),				       /* type 6 */
		STR("\x0c"),					       /* the end of no group */
		STR("\x0b\x10\x05"),				       /* a group without end */
		STR("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"),   /* 65 bits */
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct cursor c;
		struct proto_field f;
		cursor_init(&c, bad[i].data, bad[i].size, "the input", 0);
		while (proto_next(&c, &f))
			;
		struct error *err = cursor_error(&c);
		assert_non_null(err);
		assert_non_null(strstr(err->message, "the input"));
		error_destroy(err);
	}
}

TEST(puts_fields)
{
	struct strbuf b = {0};

	proto_put_varint(&b, 1, 150);
	proto_put_bytes(&b, 2, STR("testing"));
	proto_put_fixed64(&b, 3, UINT64_C(0x8807060504030201));
	expect_bytes(&b, STR("\x08\x96\x01\x12\x07testing\x19\1\2\3\4\5\6\7\x88"));
	proto_put_varint(&b, 1, UINT64_MAX);
	proto_put_varint(&b, 16, 0);
	expect_bytes(&b, STR("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x80\x01\x00"));
	size_t begun = proto_begin(&b, 4);
	proto_put_packed(&b, 3);
	proto_put_packed(&b, 270);
	proto_put_packed(&b, 86942);
	proto_end(&b, begun);
	expect_bytes(&b, STR("\x22\x06\x03\x8e\x02\x9e\xa7\x05"));
}

TEST(puts_strings_as_utf8)
{
	struct strbuf b = {0};

	proto_put_string(&b, 6, STR("a\xff\xc3\xa9\xed\xa0\x80"));
	expect_bytes(&b, STR("\x32\x0f"
			     "a\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"));
	proto_put_string(&b, 6, STR(""));
	expect_bytes(&b, STR("\x32\x00"));
}

/* Lengths of one to four bytes, nested: what is begun in one message ends there. */
TEST(messages_of_any_length)
{
	static const size_t sizes[] = {0, 1, 127, 128, 129, 16383, 16384, 2097151, 2097152};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct strbuf b = {0};
		struct cursor c, message;
		struct proto_field f;
		proto_put_varint(&b, 9, 1);
		size_t outer = proto_begin(&b, 2);
		size_t inner = proto_begin(&b, 3);
		for (size_t k = 0; k < sizes[i]; k++)
			strbuf_add_char(&b, (char)k);
		proto_end(&b, inner);
		proto_put_varint(&b, 4, 300);
		proto_end(&b, outer);
		proto_put_varint(&b, 9, 2);
		cursor_init(&c, b.data, b.size, "t", 0);
		assert_true(proto_next(&c, &f));
		assert_true(proto_next(&c, &f));
		message = proto_message(&c, &f);
		assert_true(proto_next(&c, &f) && f.number == 9 && f.value == 2);
		assert_true(proto_next(&message, &f));
		assert_int_equal(f.bytes.size, sizes[i]);
		for (size_t k = 0; k < sizes[i]; k++)
			assert_true(f.bytes.data[k] == (char)k);
		assert_true(proto_next(&message, &f) && f.number == 4 && f.value == 300);
		assert_false(proto_next(&message, &f));
		assert_null(cursor_error(&message));
		strbuf_deinit(&b);
	}
}

TEST(zigzag)
{
	assert_int_equal(proto_sint(0), 0);
	assert_int_equal(proto_sint(1), -1);
	assert_int_equal(proto_sint(2), 1);
	assert_true(proto_sint(UINT64_MAX) == INT64_MIN);
	assert_true(proto_sint(UINT64_MAX - 1) == INT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_each_type),
		cmocka_unit_test(reads_long_varints),
		cmocka_unit_test(reads_repeated_numbers),
		cmocka_unit_test(reads_packed_fixed),
		cmocka_unit_test(packed_numbers_that_are_cut),
		cmocka_unit_test(messages_have_offsets_of_the_input),
		cmocka_unit_test(groups_are_skipped),
		cmocka_unit_test(refuses),
		cmocka_unit_test(puts_fields),
		cmocka_unit_test(puts_strings_as_utf8),
		cmocka_unit_test(messages_of_any_length),
		cmocka_unit_test(zigzag),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
