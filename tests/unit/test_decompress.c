/*
 * Packed files: whole, in several members, cut, damaged, and bombs.
 */
#define ZLIB_CONST
#include <stdlib.h>
#include <time.h>

#include <zlib.h>
#include <zstd.h>

#include "base/alloc.h"
#include "base/decompress.h"
#include "../unit.h"

#define TEXT_BYTES ((size_t)300000)

static uint8_t text[TEXT_BYTES];

static struct file_bytes pack_gzip(const void *data, size_t size)
{
	z_stream z = {0};
	size_t room = size / 100 + 10000 + size / 2;
	uint8_t *out = xalloc(room);

	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = data;
	z.avail_in = (uInt)size;
	z.next_out = out;
	z.avail_out = (uInt)room;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	size_t packed = room - z.avail_out;
	deflateEnd(&z);
	return (struct file_bytes){out, packed};
}

static struct file_bytes pack_zstd(const void *data, size_t size)
{
	size_t room = ZSTD_compressBound(size);
	uint8_t *out = xalloc(room);
	size_t packed = ZSTD_compress(out, room, data, size, 3);

	assert_false(ZSTD_isError(packed));
	return (struct file_bytes){out, packed};
}

typedef struct file_bytes pack_function(const void *data, size_t size);

static pack_function *const packers[] = {pack_gzip, pack_zstd};

static void append(struct file_bytes *to, const void *data, size_t size)
{
	uint8_t *joined = xalloc(to->size + size);

	if (to->size)
		memcpy(joined, to->data, to->size);
	memcpy(joined + to->size, data, size);
	size_t total = to->size + size;
	file_bytes_deinit(to);
	*to = (struct file_bytes){joined, total};
}

static int make_text(void **state)
{
	uint32_t x = 1;

	(void)state;
	for (size_t i = 0; i < TEXT_BYTES; i++) {
		x = x * 1664525 + 1013904223;
		text[i] = (uint8_t)("abcdefgh;\n"[x >> 28 & 7]);
	}
	return 0;
}

TEST(unpacks)
{
	for (size_t i = 0; i < ARRAY_SIZE(packers); i++) {
		struct file_bytes b = packers[i](text, TEXT_BYTES);
		assert_null(decompress("t", 0, &b, NULL));
		assert_int_equal(b.size, TEXT_BYTES);
		assert_memory_equal(b.data, text, TEXT_BYTES);
		file_bytes_deinit(&b);
	}
}

TEST(unpacks_members_one_after_the_other)
{
	for (size_t i = 0; i < ARRAY_SIZE(packers); i++) {
		struct file_bytes b = packers[i](text, 1000);
		struct file_bytes more = packers[i](text + 1000, 500);
		append(&b, more.data, more.size);
		append(&b, "trailing", 8);
		file_bytes_deinit(&more);
		assert_null(decompress("t", 0, &b, NULL));
		assert_int_equal(b.size, 1500);
		assert_memory_equal(b.data, text, 1500);
		file_bytes_deinit(&b);
	}
}

TEST(leaves_plain_bytes)
{
	static const char *const plain[] = {"", "\x1f", "\x1f\x8b", "main;a 1", "\x28\xb5\x2f"};

	for (size_t i = 0; i < ARRAY_SIZE(plain); i++) {
		struct file_bytes b = {(const uint8_t *)plain[i], strlen(plain[i])};
		struct file_bytes before = b;
		assert_null(decompress("t", 0, &b, NULL));
		assert_ptr_equal(b.data, before.data);
		assert_int_equal(b.size, before.size);
	}
}

static void expect_refused(struct file_bytes *b, uint64_t limit, const char *part)
{
	const uint8_t *before = b->data;
	struct error *err = decompress("the file", limit, b, NULL);

	assert_non_null(err);
	assert_int_equal(err->kind, ERROR_INPUT);
	assert_non_null(strstr(err->message, "the file: "));
	if (part)
		assert_non_null(strstr(err->message, part));
	assert_ptr_equal(b->data, before);
	error_destroy(err);
}

/* Whether borrowed bytes are refused because of their size, or for another reason. */
static void expect_reason(const struct file_bytes *b, uint64_t limit, bool is_size)
{
	struct file_bytes unpacked = {NULL, 0};
	bool is_too_large = !is_size;
	struct error *err = decompress_borrowed("t", limit, b, &unpacked, &is_too_large);

	assert_non_null(err);
	assert_int_equal(is_too_large, is_size);
	assert_null(unpacked.data);
	error_destroy(err);
}

TEST(states_why_borrowed_data_are_refused)
{
	for (size_t i = 0; i < ARRAY_SIZE(packers); i++) {
		struct file_bytes b = packers[i](text, 5000), unpacked;
		bool is_too_large = true;
		size_t whole = b.size;

		assert_null(decompress_borrowed("t", 5000, &b, &unpacked, &is_too_large));
		assert_false(is_too_large);
		assert_int_equal(unpacked.size, 5000);
		assert_memory_equal(unpacked.data, text, 5000);
		file_bytes_deinit(&unpacked);
		expect_reason(&b, 4999, true);
		b.size = whole / 2;
		expect_reason(&b, 0, false);
		b.size = whole;
		memset((uint8_t *)(uintptr_t)b.data + 20, 0xff, 200);
		expect_reason(&b, 0, false);
		file_bytes_deinit(&b);
	}
}

TEST(refuses_cut_data)
{
	for (size_t i = 0; i < ARRAY_SIZE(packers); i++) {
		struct file_bytes b = packers[i](text, 5000);
		size_t whole = b.size;
		for (b.size = 5; b.size < whole; b.size += 1 + whole / 100)
			expect_refused(&b, 0, NULL);
		file_bytes_deinit(&b);
	}
}

/* All of the text that cut off data tell of, where that is asked for; never another byte. */
TEST(gives_what_is_left_of_cut_data)
{
	for (size_t i = 0; i < ARRAY_SIZE(packers); i++) {
		struct file_bytes whole = packers[i](text, TEXT_BYTES);
		size_t before = 0;
		for (size_t size = 20; size < whole.size; size += 1 + whole.size / 50) {
			struct file_bytes b = {NULL, 0};
			bool is_cut = false;
			append(&b, whole.data, size);
			struct error *err = decompress("t", 0, &b, &is_cut);
			if (err == NULL) {
				assert_true(is_cut);
				assert_true(b.size >= before && b.size < TEXT_BYTES);
				assert_memory_equal(b.data, text, b.size);
				before = b.size;
			}
			error_destroy(err);
			file_bytes_deinit(&b);
		}
		assert_true(before > TEXT_BYTES / 2);
		bool is_cut = true;
		assert_null(decompress("t", 0, &whole, &is_cut));
		assert_false(is_cut);
		assert_int_equal(whole.size, TEXT_BYTES);
		file_bytes_deinit(&whole);
	}
}

TEST(refuses_damaged_data)
{
	for (size_t i = 0; i < ARRAY_SIZE(packers); i++) {
		struct file_bytes b = packers[i](text, 5000);
		memset((uint8_t *)(uintptr_t)b.data + 20, 0xff, 200);
		expect_refused(&b, 0, NULL);
		file_bytes_deinit(&b);
	}
}

TEST(obeys_the_limit)
{
	for (size_t i = 0; i < ARRAY_SIZE(packers); i++) {
		struct file_bytes b = packers[i](text, TEXT_BYTES);
		expect_refused(&b, TEXT_BYTES - 1, "more than 299999 bytes");
		file_bytes_deinit(&b);
	}
}

/* 200 MB of zeros; the five seconds are for instrumented builds, a plain one takes a tenth. */
TEST(refuses_bombs)
{
	size_t size = (size_t)200 << 20;
	uint8_t *zeros = xalloc(size);

	for (size_t i = 0; i < ARRAY_SIZE(packers); i++) {
		struct file_bytes b = packers[i](zeros, size);
		clock_t start = clock();
		expect_refused(&b, 0, "times its size");
		assert_true(clock() - start < 5 * CLOCKS_PER_SEC);
		expect_reason(&b, 0, true);
		file_bytes_deinit(&b);
	}
	free(zeros);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unpacks),
		cmocka_unit_test(unpacks_members_one_after_the_other),
		cmocka_unit_test(leaves_plain_bytes),
		cmocka_unit_test(states_why_borrowed_data_are_refused),
		cmocka_unit_test(refuses_cut_data),
		cmocka_unit_test(gives_what_is_left_of_cut_data),
		cmocka_unit_test(refuses_damaged_data),
		cmocka_unit_test(obeys_the_limit),
		cmocka_unit_test(refuses_bombs),
	};

	return cmocka_run_group_tests(tests, make_text, NULL);
}
