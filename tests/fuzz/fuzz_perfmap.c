/*
 * Perf maps and kallsyms, both lines of text: the input is read as each.
 */
#include <assert.h>

#include "obj/kallsyms.h"
#include "obj/perfmap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t addrs[] = {0, 1, 0x1000, 0x1010, 0x2345, 0xffffffff81000000,
		0xffffffffc0001000, UINT64_MAX - 1, UINT64_MAX};
	struct str bytes = {(const char *)data, size};
	struct perfmap *map = perfmap_parse(bytes);
	struct kallsyms *kallsyms = kallsyms_parse(bytes);

	for (size_t i = 0; i < ARRAY_SIZE(addrs); i++) {
		struct kernel_symbol symbol;
		struct str name;
		if (perfmap_find(map, addrs[i], &name))
			assert(name.size && memchr(name.data, '\n', name.size) == NULL);
		if (kallsyms_find(kallsyms, addrs[i], &symbol))
			assert(symbol.name.size && addrs[i] >= symbol.low_va);
	}
	perfmap_close(map);
	kallsyms_close(kallsyms);
	return 0;
}
