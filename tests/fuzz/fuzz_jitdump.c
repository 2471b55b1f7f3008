/*
 * Jitdumps: the input is one, whole.
 */
#include <assert.h>

#include "obj/jitdump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jitdump *dump = jitdump_parse((struct str){(const char *)data, size});
	struct arena *arena = arena_create();
	struct jitdump_place place;

	for (uint64_t va = 0x1000; va < 0x1400; va += 0x20)
		for (uint64_t time_ns = 0; time_ns < 500; time_ns += 100)
			if (jitdump_find(dump, va, time_ns, arena, &place))
				assert(place.function.size > 0);
	arena_destroy(arena);
	jitdump_close(dump);
	return 0;
}
