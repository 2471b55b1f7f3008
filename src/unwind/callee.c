/*
 * A direct call names its target. That may be a stub, which jumps on, to where a slot in memory
 * says: once the function is entered, the slot is bound. An indirect call may name such a slot
 * itself, or a register that was loaded from one just before; what the slot holds now is what it
 * held then, unless the program has changed it.
 */
#include "unwind/callee.h"

#include "arch/x86_code.h"

enum {
	DIRECT_SIZE = 5,
	SLOT_SIZE = 6, /* ff 15 and the distance */
	/* How far before the call the load of its register is looked for. */
	LOAD_BYTES = 48,
	READ_BYTES = 16,
	LOAD_SIZE = 7,
	/* From stub to stub. */
	JUMPS_MAX = 4,
};

static int64_t distance_at(const uint8_t *bytes)
{
	int32_t distance;

	memcpy(&distance, bytes, sizeof(distance));
	return distance;
}

/* What a slot holds. It is in data, so that it comes the way that code does, which takes bytes. */
static bool read_slot(struct unwind_memory *memory, uint64_t va, uint64_t *value)
{
	uint8_t bytes[sizeof(*value)];

	if (!memory->read_code(memory, va, bytes, sizeof(bytes)))
		return false;
	memcpy(value, bytes, sizeof(bytes));
	return true;
}

/* ---- stubs ---- */

/* Where the stub at *va leads. False: it is none, or its slot can't be read. */
static bool follow_stub(struct unwind_memory *memory, uint64_t *va, bool *is_unread)
{
	static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
	uint8_t bytes[READ_BYTES];
	size_t at = 0;

	if (!memory->read_code(memory, *va, bytes, sizeof(bytes)))
		return false;
	if (memcmp(bytes, endbr, sizeof(endbr)) == 0)
		at = sizeof(endbr);
	at += bytes[at] == 0xf2; /* bnd */
	if (bytes[at] == 0xe9) {
		*va += at + DIRECT_SIZE + (uint64_t)distance_at(bytes + at + 1);
		return true;
	}
	if (bytes[at] != 0xff || bytes[at + 1] != 0x25)
		return false;
	*is_unread = !read_slot(
		memory, *va + at + SLOT_SIZE + (uint64_t)distance_at(bytes + at + 2), va);
	return !*is_unread;
}

static enum callee compare(struct unwind_memory *memory, uint64_t target_va, uint64_t start_va)
{
	bool is_unread = false;

	for (int i = 0; i < JUMPS_MAX && target_va != start_va; i++)
		if (!follow_stub(memory, &target_va, &is_unread))
			break;
	if (target_va == start_va)
		return CALLEE_THIS;
	return is_unread ? CALLEE_UNKNOWN : CALLEE_OTHER;
}

/* ---- calls of a register ---- */

/* The hardware's number of the register that a call of one names; -1: it is none. */
static int called_register(const uint8_t *end)
{
	if (end[-2] != 0xff || (end[-1] & 0xf8) != 0xd0)
		return -1;
	return (end[-1] & 7) | (end[-3] == 0x41 ? 8 : 0);
}

/* Whether mov slot(%rip), or lea target(%rip), to that register stands there. */
static bool is_load(const uint8_t *bytes, int reg)
{
	return bytes[0] == (reg & 8 ? 0x4c : 0x48) && (bytes[1] == 0x8b || bytes[1] == 0x8d) &&
	       bytes[2] == ((reg & 7) << 3 | 5);
}

/* Whether what the load has put into the register is there at the call, which is at the end. */
static bool comes_to_end(const uint8_t *bytes, size_t size, int reg)
{
	size_t at = LOAD_SIZE;

	while (at < size) {
		struct x86_instruction i = x86_decode(bytes + at, size - at, 0);
		if (i.kind == X86_CALL)
			return at + i.size == size;
		if (i.kind == X86_BAD || i.kind == X86_JUMP || i.kind == X86_RETURN ||
			x86_may_write(bytes + at, size - at, (uint8_t)reg))
			return false;
		at += i.size;
	}
	return false;
}

static enum callee of_load(
	struct unwind_memory *memory, const uint8_t *load, uint64_t load_va, uint64_t start_va)
{
	uint64_t target_va = load_va + LOAD_SIZE + (uint64_t)distance_at(load + 3);

	if (load[1] == 0x8b && !read_slot(memory, target_va, &target_va))
		return CALLEE_UNKNOWN;
	return compare(memory, target_va, start_va);
}

static enum callee of_register(struct unwind_memory *memory, uint64_t return_va, uint64_t start_va)
{
	uint8_t bytes[LOAD_BYTES];
	int reg;

	for (size_t i = 0; i < LOAD_BYTES; i += READ_BYTES)
		if (!memory->read_code(memory, return_va - LOAD_BYTES + i, bytes + i, READ_BYTES))
			return CALLEE_UNKNOWN;
	reg = called_register(bytes + LOAD_BYTES);
	if (reg < 0)
		return CALLEE_UNKNOWN;
	for (size_t back = LOAD_SIZE + 2; back <= LOAD_BYTES; back++) {
		const uint8_t *load = bytes + LOAD_BYTES - back;
		if (is_load(load, reg) && comes_to_end(load, back, reg))
			return of_load(memory, load, return_va - back, start_va);
	}
	return CALLEE_UNKNOWN;
}

enum callee callee_is(struct unwind_memory *memory, uint64_t return_va, uint64_t start_va)
{
	uint8_t bytes[8];
	const uint8_t *end = bytes + sizeof(bytes);
	uint64_t target_va;

	if (!memory->read_code ||
		!memory->read_code(memory, return_va - sizeof(bytes), bytes, sizeof(bytes)))
		return CALLEE_UNKNOWN;
	if (end[-DIRECT_SIZE] == 0xe8)
		return compare(memory, return_va + (uint64_t)distance_at(end - 4), start_va);
	if (end[-SLOT_SIZE] != 0xff || end[1 - SLOT_SIZE] != 0x15)
		return of_register(memory, return_va, start_va);
	if (!read_slot(memory, return_va + (uint64_t)distance_at(end - 4), &target_va))
		return CALLEE_UNKNOWN;
	return compare(memory, target_va, start_va);
}
