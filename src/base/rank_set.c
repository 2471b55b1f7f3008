/* Creates sets with ranks.  See rank_set.h. */
#include "base/rank_set.h"

uint64_t *rank_set_bits(size_t size, struct arena *arena)
{
	return ARENA_ARRAY(arena, uint64_t, size / 64 + 1);
}

struct rank_set rank_set_make(const uint64_t *bits, size_t size, struct arena *arena)
{
	size_t words = size / 64 + 1;
	uint32_t *before = ARENA_ARRAY(arena, uint32_t, words), count = 0;

	for (size_t i = 0; i < words; i++) {
		before[i] = count;
		count += count_bits(bits[i]);
	}
	return (struct rank_set){.bits = bits, .before = before, .size = size, .count = count};
}
