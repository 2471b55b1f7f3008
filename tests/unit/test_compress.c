/*
 * Output packed on its way out: it unpacks to what went in, whatever the sizes of the pieces, and
 * depends on nothing but that.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/decompress.h"
#include "base/file.h"
#include "base/sink.h"
#include "../unit.h"

#define TEXT_BYTES ((size_t)700000)

static const enum packing packings[] = {PACKING_GZIP, PACKING_ZSTD};
static char text[TEXT_BYTES];

static int make_text(void **state)
{
	uint64_t x = 1;

	(void)state;
	for (size_t i = 0; i < TEXT_BYTES; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		text[i] = (char)(x >> 56); /* packs to no less than itself: output is long, too */
	}
	memset(text, 'a', TEXT_BYTES / 2);
	return 0;
}

static struct strbuf pack(enum packing packing, size_t size, size_t piece)
{
	struct compressor *c = compressor_create(packing);
	struct strbuf out = {0};

	for (size_t at = 0; at < size; at += piece)
		compressor_add(c, (struct str){text + at, size - at < piece ? size - at : piece},
			false, &out);
	compressor_add(c, STR(""), true, &out);
	compressor_destroy(c);
	return out;
}

static void expect_text(const void *packed, size_t packed_size, size_t size)
{
	uint8_t *copy = xalloc(packed_size);

	memcpy(copy, packed, packed_size);
	struct file_bytes b = {copy, packed_size};
	assert_null(decompress("t", 0, &b, NULL));
	assert_int_equal(b.size, size);
	assert_memory_equal(b.data, text, size);
	file_bytes_deinit(&b);
}

TEST(comes_back)
{
	static const struct {
		size_t size, piece;
	} cases[] = {{0, 1}, {1, 1}, {5000, 7}, {65536, 65536}, {65537, 65536}, {TEXT_BYTES, 65536},
		{TEXT_BYTES, 1 << 17}, {TEXT_BYTES, TEXT_BYTES}};

	for (size_t k = 0; k < ARRAY_SIZE(packings); k++) {
		for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
			struct strbuf b = pack(packings[k], cases[i].size, cases[i].piece);
			expect_text(b.data, b.size, cases[i].size);
			strbuf_deinit(&b);
		}
	}
}

/* RFC 1952: no flags, no time, no name. */
TEST(gzip_header_has_no_time)
{
	struct strbuf b = pack(PACKING_GZIP, 100, 100);

	assert_memory_equal(b.data, "\x1f\x8b\x08\0\0\0\0\0\0", 9);
	strbuf_deinit(&b);
}

TEST(packs_what_it_can)
{
	for (size_t k = 0; k < ARRAY_SIZE(packings); k++) {
		struct strbuf b = pack(packings[k], TEXT_BYTES / 2, 65536);
		assert_in_range(b.size, 1, 2000);
		strbuf_deinit(&b);
	}
}

TEST(name_decides)
{
	static const struct {
		const char *name, *stem;
		enum packing packing;
	} cases[] = {{"x.folded.gz", "x.folded", PACKING_GZIP}, {"x.zst", "x", PACKING_ZSTD},
		{"x.gz.folded", "x.gz.folded", PACKING_NONE}, {"", "", PACKING_NONE},
		{"gz", "gz", PACKING_NONE}, {"x.GZ", "x.GZ", PACKING_NONE}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct str stem;
		assert_int_equal(packing_of_name(str_from(cases[i].name), &stem), cases[i].packing);
		assert_true(str_equal(stem, str_from(cases[i].stem)));
	}
}

/* Through a sink, in lines, into a file. */
TEST(sink_packs)
{
	for (size_t k = 0; k < ARRAY_SIZE(packings); k++) {
		FILE *file = tmpfile();
		char *packed = xalloc(2 * TEXT_BYTES);
		struct sink sink;
		assert_non_null(file);
		sink_init(&sink, fileno(file), "scratch");
		sink_pack(&sink, packings[k]);
		for (size_t at = 0; at < TEXT_BYTES; at += 100) {
			strbuf_add(&sink.text, (struct str){text + at, 100});
			assert_true(sink_settle(&sink));
		}
		assert_null(sink_finish(&sink));
		rewind(file);
		size_t size = fread(packed, 1, 2 * TEXT_BYTES, file);
		expect_text(packed, size, TEXT_BYTES);
		free(packed);
		fclose(file);
	}
}

/* The first failed write is reported, and what was packed since is dropped. */
TEST(sink_tells_of_failure)
{
	struct sink sink;

	sink_init(&sink, -1, "nowhere");
	sink_pack(&sink, PACKING_GZIP);
	for (size_t i = 0; i < 10; i++) {
		strbuf_add(&sink.text, (struct str){text, TEXT_BYTES});
		(void)sink_settle(&sink);
	}
	struct error *err = sink_finish(&sink);
	assert_non_null(err);
	assert_non_null(strstr(err->message, "nowhere"));
	error_destroy(err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_back),
		cmocka_unit_test(gzip_header_has_no_time),
		cmocka_unit_test(packs_what_it_can),
		cmocka_unit_test(name_decides),
		cmocka_unit_test(sink_packs),
		cmocka_unit_test(sink_tells_of_failure),
	};

	return cmocka_run_group_tests(tests, make_text, NULL);
}
