/*
 * Files of the symbol cache. The input is a file's body, behind a header that fits: else no mutant
 * would get past the checksum.
 */
#include <assert.h>

#include "base/hash.h"
#include "symbolize/cache_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t fuzz_seed(size_t n, uint8_t *data, size_t capacity);

static void add(struct strbuf *out, const void *data, size_t size)
{
	strbuf_add(out, (struct str){data, size});
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint32_t version_flags[] = {CACHE_FILE_VERSION, 3};
	const uint64_t body_size = size;
	const uint32_t crc_zero[] = {crc32c(0, data, size), 0};
	struct arena *arena = arena_create();
	struct cache_contents contents;
	struct strbuf file = {0};
	size_t bytes = 0;

	add(&file, "SONDESYM", 8);
	add(&file, version_flags, sizeof(version_flags));
	add(&file, &body_size, sizeof(body_size));
	add(&file, crc_zero, sizeof(crc_zero));
	add(&file, data, size);
	if (cache_file_decode(strbuf_str(&file), arena, &contents)) {
		for (size_t i = 0; i < contents.count; i++) {
			assert(i == 0 || contents.obj_addrs[i - 1] < contents.obj_addrs[i]);
			for (uint32_t k = 0; k < contents.places[i].count && k < 64; k++)
				bytes += hash_bytes(contents.places[i].frames[k].function.data,
					contents.places[i].frames[k].function.size);
		}
	}
	strbuf_deinit(&file);
	arena_destroy(arena);
	return bytes == SIZE_MAX;
}

size_t fuzz_seed(size_t n, uint8_t *data, size_t capacity)
{
	static const struct symbol_frame frames[] = {
		{STR("inner"), STR(""), STR("/src/a.h"), 3, STR("/src/a.h"), 1, true, false, false},
		{STR("outer"), STR("__outer\0"), STR("/src/a.c"), 30, STR("/src/a.c"), 20, false,
			true, true}};
	static const uint64_t addrs[] = {0x1000, 0x2000};
	static const struct symbol_place places[] = {{frames, 2}, {frames + 1, 1}};
	const struct cache_contents contents = {.obj_addrs = addrs, .places = places, .count = 2};
	struct strbuf file = {0};
	enum { HEADER = 32 };

	if (n > 0)
		return 0;
	cache_file_encode(&contents, &file);
	assert(file.size > HEADER && file.size <= capacity);
	size_t size = file.size - HEADER;
	memcpy(data, file.data + HEADER, size);
	strbuf_deinit(&file);
	return size;
}
