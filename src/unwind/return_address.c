/* Looks at the code before and at an address: see return_address.h. */
#include "unwind/return_address.h"

#include "base/hash.h"

static bool read_is_after_call(const struct arch *arch, struct unwind_memory *memory, uint64_t va)
{
	uint8_t bytes[8];

	return memory->read_code == NULL ||
	       (memory->read_code(memory, va - sizeof(bytes), bytes, sizeof(bytes)) &&
		       arch->is_call(bytes));
}

bool return_address_is_plausible(struct return_cache *cache, const struct unwind_space *space,
	struct unwind_memory *memory, uint64_t va)
{
	size_t slot = hash_pair(va, space->generation) % RETURN_CACHE_SIZE;

	if (unwind_space_find(space, va - 1) == NULL)
		return false;
	if (cache->slots[slot].va != va || cache->slots[slot].generation != space->generation) {
		cache->slots[slot].va = va;
		cache->slots[slot].generation = space->generation;
		cache->slots[slot].after_call = read_is_after_call(space->arch, memory, va);
	}
	return cache->slots[slot].after_call;
}

bool signal_return_is_at(const struct arch *arch, struct unwind_memory *memory, uint64_t va)
{
	uint8_t bytes[sizeof(arch->signal_return)];
	size_t size = arch->signal_return_size;

	return memory->read_code && memory->read_code(memory, va, bytes, size) &&
	       memcmp(bytes, arch->signal_return, size) == 0;
}

bool signal_return_is_around(const struct arch *arch, struct unwind_memory *memory, uint64_t va)
{
	return signal_return_is_at(arch, memory, va) ||
	       signal_return_is_at(arch, memory, va - arch->signal_return_call) ||
	       signal_return_is_at(arch, memory, va - arch->signal_return_size);
}
