/* Numbers and strings as bytes: as the standards write them, back again, and from bad bytes. */
#include "base/wire.h"
#include "../unit.h"

#include <string.h>

/* Checks what was written, and empties it. */
static void check_bytes(struct strbuf *out, const char *bytes, size_t size)
{
	assert_int_equal(out->size, size);
	assert_memory_equal(out->data, bytes, size);
	strbuf_clear(out);
}
#define CHECK(out, literal) check_bytes(out, literal, sizeof(literal) - 1)

TEST(test_fixed_numbers_are_little_endian)
{
	struct strbuf out = {0};

	wire_put_u8(&out, 0xfe);
	CHECK(&out, "\xfe");
	wire_put_u16(&out, 0x0102);
	CHECK(&out, "\x02\x01");
	wire_put_u32(&out, 0x01020304);
	CHECK(&out, "\x04\x03\x02\x01");
	wire_put_u64(&out, UINT64_C(0x0102030405060708));
	CHECK(&out, "\x08\x07\x06\x05\x04\x03\x02\x01");
	strbuf_deinit(&out);
}

/* The examples of DWARF 5, section 7.6. */
TEST(test_leb128_is_as_dwarf_has_it)
{
	struct strbuf out = {0};

	wire_put_uleb(&out, 2);
	CHECK(&out, "\x02");
	wire_put_uleb(&out, 127);
	CHECK(&out, "\x7f");
	wire_put_uleb(&out, 128);
	CHECK(&out, "\x80\x01");
	wire_put_uleb(&out, 12857);
	CHECK(&out, "\xb9\x64");
	wire_put_sleb(&out, 2);
	CHECK(&out, "\x02");
	wire_put_sleb(&out, -2);
	CHECK(&out, "\x7e");
	wire_put_sleb(&out, 127);
	CHECK(&out, "\xff\x00");
	wire_put_sleb(&out, -127);
	CHECK(&out, "\x81\x7f");
	wire_put_sleb(&out, 128);
	CHECK(&out, "\x80\x01");
	wire_put_sleb(&out, -128);
	CHECK(&out, "\x80\x7f");
	wire_put_sleb(&out, -129);
	CHECK(&out, "\xff\x7e");
	strbuf_deinit(&out);
}

static struct cursor cursor_of(const struct strbuf *bytes, size_t size)
{
	struct cursor c;

	cursor_init(&c, bytes->data, size, "bytes", 0);
	return c;
}

/* Writes and reads one number as both kinds; each prefix is truncated. */
static void check_round_trip(uint64_t value)
{
	struct strbuf out = {0};

	wire_put_uleb(&out, value);
	size_t unsigned_size = out.size;
	wire_put_sleb(&out, (int64_t)value);
	struct cursor c = cursor_of(&out, out.size);

	assert_true(wire_uleb(&c) == value);
	assert_int_equal(cursor_offset(&c), unsigned_size);
	assert_true(wire_sleb(&c) == (int64_t)value);
	assert_true(cursor_ok(&c) && cursor_at_end(&c));
	for (size_t size = 0; size < out.size; size++) {
		c = cursor_of(&out, size);
		wire_uleb(&c);
		assert_int_equal(cursor_ok(&c), size >= unsigned_size);
		wire_sleb(&c);
		assert_false(cursor_ok(&c));
	}
	strbuf_deinit(&out);
}

TEST(test_numbers_of_every_length_come_back)
{
	for (unsigned int bit = 0; bit < 64; bit++) {
		uint64_t power = UINT64_C(1) << bit;

		check_round_trip(power - 1);
		check_round_trip(power);
		check_round_trip(power + 1);
		check_round_trip(-power);
		check_round_trip(~power);
	}
}

TEST(test_strings_have_their_length_before_them)
{
	struct strbuf out = {0};

	wire_put_str(&out, STR(""));
	wire_put_str(&out, (struct str){"a\0b", 3});
	check_bytes(&out, "\0\3a\0b", 5);
	wire_put_str(&out, (struct str){"a\0b", 3});
	struct cursor c = cursor_of(&out, out.size);

	assert_true(str_equal(wire_str(&c), (struct str){"a\0b", 3}));
	assert_true(cursor_ok(&c) && cursor_at_end(&c));
	c = cursor_of(&out, out.size - 1);
	assert_int_equal(wire_str(&c).size, 0);
	assert_false(cursor_ok(&c));
	strbuf_deinit(&out);
}

TEST(test_a_column_is_all_that_its_length_says)
{
	struct strbuf out = {0};

	wire_put_str(&out, STR("xyz"));
	wire_put_u8(&out, 7);
	struct cursor c = cursor_of(&out, out.size), column = wire_column(&c);

	assert_int_equal(cursor_left(&column), 3);
	assert_int_equal(cursor_u8(&c), 7);
	c = cursor_of(&out, 3);
	column = wire_column(&c);
	assert_int_equal(cursor_left(&column), 0);
	assert_false(cursor_ok(&c));
	strbuf_deinit(&out);
}

/* Whether an array of that many elements is accepted, with so many bytes after its count. */
static bool accepts(uint64_t count, size_t element_bytes, size_t bytes_after)
{
	struct strbuf out = {0};

	wire_put_uleb(&out, count);
	for (size_t i = 0; i < bytes_after; i++)
		wire_put_u8(&out, 0);
	struct cursor c = cursor_of(&out, out.size);
	uint64_t found = wire_count(&c, element_bytes);
	bool is_ok = cursor_ok(&c);

	assert_true(found == (is_ok ? count : 0));
	strbuf_deinit(&out);
	return is_ok;
}

TEST(test_an_array_cannot_be_longer_than_its_bytes)
{
	assert_true(accepts(0, 8, 0));
	assert_true(accepts(3, 8, 24));
	assert_false(accepts(3, 8, 23));
	assert_false(accepts(UINT64_MAX, 8, 24));
	/* Whose product with the size is small again. */
	assert_false(accepts(UINT64_C(1) << 61, 8, 24));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fixed_numbers_are_little_endian),
		cmocka_unit_test(test_leb128_is_as_dwarf_has_it),
		cmocka_unit_test(test_numbers_of_every_length_come_back),
		cmocka_unit_test(test_strings_have_their_length_before_them),
		cmocka_unit_test(test_a_column_is_all_that_its_length_says),
		cmocka_unit_test(test_an_array_cannot_be_longer_than_its_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
