/*
 * A direct call names its target. The target may be a stub, which jumps to the address in a memory
 * slot; the slot is bound once the function has been entered. An indirect call may name such a slot
 * itself, or a register that was loaded from one just before. The slot still holds the same
 * address, unless the program has changed it.
 */
#include "unwind/callee.h"

#include "arch/arch.h"

enum {
	/* How far before the return address the call, and the load of its target, are searched. */
	CALL_BYTES = 8,
	LOAD_BYTES = 48,
	READ_BYTES = 16,
	/* The maximum number of jumps from stub to stub. */
	JUMPS_MAX = 4,
};

/* The contents of a slot, read with read_code, which copies bytes of any memory. */
static bool read_slot(struct unwind_memory *memory, uint64_t va, uint64_t *value)
{
	uint8_t bytes[sizeof(*value)];

	if (!memory->read_code(memory, va, bytes, sizeof(bytes)))
		return false;
	memcpy(value, bytes, sizeof(bytes));
	return true;
}

/* Resolves a target to its address. False: its slot cannot be read. */
static bool resolve(
	struct unwind_memory *memory, const struct arch_target *target, uint64_t *target_va)
{
	if (target->is_slot)
		return read_slot(memory, target->addr, target_va);
	*target_va = target->addr;
	return true;
}

/* Follows the stub at *va. False: not a stub, or its slot cannot be read. */
static bool follow_stub(
	const struct arch *arch, struct unwind_memory *memory, uint64_t *va, bool *is_unread)
{
	uint8_t bytes[ARCH_STUB_BYTES];
	struct arch_target target;

	if (!memory->read_code(memory, *va, bytes, sizeof(bytes)) ||
		!arch->stub_target(bytes, *va, &target))
		return false;
	*is_unread = !resolve(memory, &target, va);
	return !*is_unread;
}

static enum callee compare(const struct arch *arch, struct unwind_memory *memory,
	uint64_t target_va, uint64_t start_va)
{
	bool is_unread = false;

	for (int i = 0; i < JUMPS_MAX && target_va != start_va; i++)
		if (!follow_stub(arch, memory, &target_va, &is_unread))
			break;
	if (target_va == start_va)
		return CALLEE_THIS;
	return is_unread ? CALLEE_UNKNOWN : CALLEE_OTHER;
}

/* Most calls name their target; for others, earlier instructions loaded it. */
static bool find_target(const struct arch *arch, struct unwind_memory *memory, uint64_t return_va,
	struct arch_target *target)
{
	uint8_t bytes[LOAD_BYTES];

	if (!memory->read_code(memory, return_va - CALL_BYTES, bytes, CALL_BYTES))
		return false;
	if (arch->call_target(bytes, CALL_BYTES, return_va, target))
		return true;
	for (size_t i = 0; i < LOAD_BYTES; i += READ_BYTES)
		if (!memory->read_code(memory, return_va - LOAD_BYTES + i, bytes + i, READ_BYTES))
			return false;
	return arch->call_target(bytes, LOAD_BYTES, return_va, target);
}

enum callee callee_is(const struct arch *arch, struct unwind_memory *memory, uint64_t return_va,
	uint64_t start_va)
{
	struct arch_target target;
	uint64_t target_va;

	if (!memory->read_code || !arch->decode || !find_target(arch, memory, return_va, &target) ||
		!resolve(memory, &target, &target_va))
		return CALLEE_UNKNOWN;
	return compare(arch, memory, target_va, start_va);
}
