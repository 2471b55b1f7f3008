/*
 * A process's executable mappings: a sorted array.  Processes have tens of them, seldom hundreds,
 * and seldom change them; look-ups are rare as well, as the walker caches results.
 */
#include "unwind/space.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "base/alloc.h"
#include "base/search.h"

void unwind_space_touch(struct unwind_space *space)
{
	static _Atomic uint64_t last;

	space->generation = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
	space->intact_since = space->generation;
}

void unwind_space_init(struct unwind_space *space)
{
	*space = (struct unwind_space){.arch = arch_here()};
	unwind_space_touch(space);
}

void unwind_space_deinit(struct unwind_space *space)
{
	free(space->mappings);
	*space = (struct unwind_space){0};
}

void unwind_space_copy(struct unwind_space *copy, const struct unwind_space *space)
{
	*copy = *space;
	copy->capacity = space->count;
	copy->mappings = xcalloc(space->count, sizeof(*space->mappings));
	if (space->count)
		memcpy(copy->mappings, space->mappings, space->count * sizeof(*space->mappings));
}

/* Index of the first mapping that ends above va. */
static size_t first_above(const struct unwind_space *space, uint64_t va)
{
	return partition_point(i, 0, space->count, space->mappings[i].high_va <= va);
}

static void insert(struct unwind_space *space, size_t at, const struct unwind_mapping *mapping)
{
	if (space->count == space->capacity) {
		space->capacity = space->capacity ? space->capacity * 2 : 16;
		space->mappings =
			xrealloc_array(space->mappings, space->capacity, sizeof(*space->mappings));
	}
	memmove(space->mappings + at + 1, space->mappings + at,
		(space->count - at) * sizeof(*space->mappings));
	space->mappings[at] = *mapping;
	space->count++;
}

/* Removes [low, high); returns the index where a mapping of that range belongs. */
static size_t cut(struct unwind_space *space, uint64_t low_va, uint64_t high_va)
{
	size_t first = first_above(space, low_va), last = first;

	if (first < space->count && space->mappings[first].low_va < low_va) {
		struct unwind_mapping upper = space->mappings[first];
		space->mappings[first++].high_va = low_va;
		last = first;
		if (upper.high_va > high_va) {
			upper.low_va = high_va;
			insert(space, first, &upper);
			return first;
		}
	}
	while (last < space->count && space->mappings[last].high_va <= high_va)
		last++;
	if (last < space->count && space->mappings[last].low_va < high_va)
		space->mappings[last].low_va = high_va;
	if (first == last)
		return first;
	memmove(space->mappings + first, space->mappings + last,
		(space->count - last) * sizeof(*space->mappings));
	space->count -= last - first;
	return first;
}

static bool is_free(const struct unwind_space *space, uint64_t low_va, uint64_t high_va)
{
	size_t i = first_above(space, low_va);

	return i == space->count || space->mappings[i].low_va >= high_va;
}

void unwind_space_add(struct unwind_space *space, struct unwind_mapping mapping)
{
	uint64_t intact_since = space->intact_since;

	if (mapping.low_va >= mapping.high_va)
		return;
	bool is_more = is_free(space, mapping.low_va, mapping.high_va) ||
		       unwind_space_has(space, &mapping);

	insert(space, cut(space, mapping.low_va, mapping.high_va), &mapping);
	unwind_space_touch(space);
	if (is_more)
		space->intact_since = intact_since;
}

void unwind_space_remove(struct unwind_space *space, uint64_t low_va, uint64_t high_va)
{
	if (low_va >= high_va || space->count == 0)
		return;
	cut(space, low_va, high_va);
	unwind_space_touch(space);
}

void unwind_space_clear(struct unwind_space *space)
{
	space->count = 0;
	unwind_space_touch(space);
}

const struct unwind_mapping *unwind_space_find(const struct unwind_space *space, uint64_t va)
{
	size_t i = first_above(space, va);

	return i < space->count && space->mappings[i].low_va <= va ? &space->mappings[i] : NULL;
}

bool unwind_space_has(const struct unwind_space *space, const struct unwind_mapping *mapping)
{
	const struct unwind_mapping *known = unwind_space_find(space, mapping->low_va);

	return known && known->low_va == mapping->low_va && known->high_va == mapping->high_va &&
	       (known->object | UNWIND_PENDING) == (mapping->object | UNWIND_PENDING);
}
