/*
 * An interpreter that was generated at run time may push the address where it continues and jump
 * to what it calls, as OpenJDK's does.  So the code before such a return address shows nothing.
 * But the frame pointers that enclose it do: where the caller keeps one, it leads outwards from
 * frame to frame, and the frame that entered the generated code was called.  Values left in memory
 * seldom form such a chain.
 *
 * A chain that holds is not followed again for the frames along it.  After a few that did not, none
 * is followed any more in that walk, so a hostile stack cannot make the walk quadratic.
 */
#include "unwind/heuristics/bp_chain.h"

enum { BROKEN_MAX = 8 };

/* Whether the code at va belongs to no load object with unwind rules. */
static bool is_generated(const struct unwind_space *space, uint64_t va)
{
	const struct unwind_mapping *mapping = unwind_space_find(space, va - 1);

	return mapping && !mapping->table && !(mapping->object & UNWIND_PENDING);
}

/* Whether the chain from bp on ends well, and then, how far out. */
static bool follow(struct return_cache *cache, const struct unwind_space *space,
	struct unwind_memory *memory, uint64_t low, uint64_t bp, uint64_t *end)
{
	uint64_t saved_bp, return_va;

	for (; bp >= low && (bp & 7) == 0; low = bp + 16, bp = saved_bp) {
		if (!unwind_memory_read(memory, bp, &saved_bp) ||
			!unwind_memory_read(memory, bp + 8, &return_va))
			return false;
		*end = bp;
		if (return_address_is_plausible(cache, space, memory, return_va))
			return true;
		if (!is_generated(space, return_va))
			return false;
	}
	return false;
}

bool bp_chain_holds(struct bp_chain *chain, struct return_cache *cache,
	const struct unwind_space *space, struct unwind_memory *memory, uint64_t return_va,
	uint64_t sp, uint64_t bp)
{
	bool is_inside = bp <= chain->sound_va, is_next = is_inside && bp == chain->next_bp;
	uint64_t end;

	if (!is_generated(space, return_va) || chain->broken == BROKEN_MAX)
		return false;
	if (!is_next) {
		bool holds = follow(cache, space, memory, sp, bp, &end);

		chain->broken += is_inside || !holds;
		if (!holds)
			return false;
		chain->sound_va = end;
	}
	return unwind_memory_read(memory, bp, &chain->next_bp);
}
