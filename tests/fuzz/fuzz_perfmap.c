/*
 * Perf maps and kallsyms, both lines of text: the input is read as each.
 */
#include <assert.h>

#include "obj/kallsyms.h"
#include "obj/perfmap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The same map as it grows, by pieces of one to nine bytes. */
static struct perfmap *in_pieces(struct str bytes)
{
	struct perfmap *map = perfmap_create();

	for (uint64_t i = 0; bytes.size; i++) {
		size_t size = 1 + i % 9 < bytes.size ? 1 + i % 9 : bytes.size;

		perfmap_add(map, (struct str){bytes.data, size}, i, i + 1);
		if (i % 3 == 0)
			perfmap_advance(map, i);
		bytes.data += size;
		bytes.size -= size;
	}
	perfmap_end(map, UINT64_MAX);
	perfmap_advance(map, UINT64_MAX);
	return map;
}

/* The same map, which then is written once more. */
static struct perfmap *again(struct str bytes)
{
	struct perfmap *map = perfmap_create();

	perfmap_add(map, bytes, 0, 10);
	perfmap_end(map, 0);
	perfmap_advance(map, 10);
	perfmap_rewind(map);
	perfmap_add(map, bytes, 20, 20);
	perfmap_end(map, 20);
	perfmap_advance(map, 20);
	assert(perfmap_memory(map) < 4096 + 1024 * (bytes.size + 1));
	return map;
}

static void check_piece(const struct perfmap *pieces, const struct perfmap *map, uint64_t va)
{
	struct str a, b;
	bool found = perfmap_find(map, va, &a);

	assert(perfmap_find(pieces, va, &b) == found);
	if (found)
		assert(str_equal(a, b));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t addrs[] = {0, 1, 0x1000, 0x1010, 0x2345, 0xffffffff81000000,
		0xffffffffc0001000, UINT64_MAX - 1, UINT64_MAX};
	struct str bytes = {(const char *)data, size};
	struct perfmap *map = perfmap_parse(bytes), *pieces = in_pieces(bytes),
		       *twice = again(bytes);
	struct kallsyms *kallsyms = kallsyms_parse(bytes);

	for (size_t i = 0; i < ARRAY_SIZE(addrs); i++) {
		struct kernel_symbol symbol;
		struct str name;
		if (perfmap_find(map, addrs[i], &name))
			assert(name.size && memchr(name.data, '\n', name.size) == NULL);
		check_piece(pieces, map, addrs[i]);
		check_piece(twice, map, addrs[i]);
		uint32_t line = perfmap_find_line(twice, addrs[i]);
		assert(line == PERFMAP_NONE || !perfmap_is_unsure(twice, line, 20));
		if (kallsyms_find(kallsyms, addrs[i], &symbol))
			assert(symbol.name.size && addrs[i] >= symbol.low_va);
	}
	assert(perfmap_bad_lines(pieces) == perfmap_bad_lines(map));
	perfmap_close(map);
	perfmap_close(pieces);
	perfmap_close(twice);
	kallsyms_close(kallsyms);
	return 0;
}
