/*
 * x86-64. Its machine code is read by x86_code.c.
 *
 * Sources: the x86-64 psABI, figures 3.4 and 3.36, sections 5.2 "Dynamic Linking" and 13 (IBT); the
 * kernel's asm/perf_regs.h, asm/sigcontext.h and asm/ucontext.h; Intel SDM volume 2 for calls and
 * jumps.
 */
#include <elf.h>
#include <string.h>

#include "arch/arch.h"
#include "arch/x86_code.h"
#include "base/compiler.h"

static const uint8_t dwarf_regs[ARCH_REG_COUNT] = {
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

static const struct arch_perf_register perf_regs[] = {
	[0] = {0, false},	       /* ax */
	[1] = {ARCH_REG_BX, true},     /* bx */
	[2] = {2, false},	       /* cx */
	[3] = {1, false},	       /* dx */
	[4] = {4, false},	       /* si */
	[5] = {5, false},	       /* di */
	[6] = {ARCH_REG_BP, false},    /* bp */
	[7] = {ARCH_REG_SP, false},    /* sp */
	[8] = {ARCH_REG_PC, false},    /* ip */
	[9] = {ARCH_REG_NONE, false},  /* flags */
	[10] = {ARCH_REG_NONE, false}, /* segments, to 15 */
	[11] = {ARCH_REG_NONE, false},
	[12] = {ARCH_REG_NONE, false},
	[13] = {ARCH_REG_NONE, false},
	[14] = {ARCH_REG_NONE, false},
	[15] = {ARCH_REG_NONE, false},
	[16] = {8, false}, /* r8 */
	[17] = {9, false},
	[18] = {10, false},
	[19] = {11, false},
	[20] = {12, true},
	[21] = {13, true},
	[22] = {14, true},
	[23] = {15, true}, /* r15 */
};

/* The size in bytes of ModRM, SIB and displacement of an "FF /2" (call through memory). */
static unsigned int call_operand_size(const uint8_t *modrm)
{
	unsigned int mod = modrm[0] >> 6, rm = modrm[0] & 7, size = 1;

	if (mod == 3)
		return size;
	if (rm == 4) {
		size++;
		if (mod == 0 && (modrm[1] & 7) == 5)
			size += 4;
	}
	if (mod == 0 && rm == 5)
		size += 4;
	return size + (mod == 1 ? 1 : mod == 2 ? 4 : 0);
}

static bool is_call(const uint8_t bytes[8])
{
	if (bytes[3] == 0xe8)
		return true;
	/* FF, ModRM with 2 in its middle, operand: 2 to 7 bytes; a prefix before it does not
	 * matter. */
	for (unsigned int size = 2; size <= 7; size++) {
		const uint8_t *op = bytes + 8 - size;
		if (op[0] == 0xff && (op[1] >> 3 & 7) == 2 && 1 + call_operand_size(op + 1) == size)
			return true;
	}
	return false;
}

/* ---- targets of calls and stubs ---- */

enum {
	CALL_SIZE = 5,	    /* e8 and the distance */
	SLOT_CALL_SIZE = 6, /* ff 15 and the distance */
	LOAD_SIZE = 7,
};

static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};

static uint64_t distance_at(const uint8_t *bytes)
{
	int32_t distance;

	memcpy(&distance, bytes, sizeof(distance));
	return (uint64_t)(int64_t)distance;
}

static bool stub_target(
	const uint8_t bytes[ARCH_STUB_BYTES], uint64_t addr, struct arch_target *target)
{
	size_t at = 0;

	if (memcmp(bytes, endbr64, sizeof(endbr64)) == 0)
		at = sizeof(endbr64);
	at += bytes[at] == 0xf2; /* bnd */
	if (bytes[at] == 0xe9)
		*target = (struct arch_target){
			addr + at + CALL_SIZE + distance_at(bytes + at + 1), false};
	else if (bytes[at] == 0xff && bytes[at + 1] == 0x25)
		*target = (struct arch_target){
			addr + at + SLOT_CALL_SIZE + distance_at(bytes + at + 2), true};
	else
		return false;
	return true;
}

/* The hardware number of the register in a call through a register; -1: not such a call. */
static int called_register(const uint8_t *end)
{
	if (end[-2] != 0xff || (end[-1] & 0xf8) != 0xd0)
		return -1;
	return (end[-1] & 7) | (end[-3] == 0x41 ? 8 : 0);
}

/* Whether the bytes are mov slot(%rip), or lea target(%rip), to that register. */
static bool is_load(const uint8_t *bytes, int reg)
{
	return bytes[0] == (reg & 8 ? 0x4c : 0x48) && (bytes[1] == 0x8b || bytes[1] == 0x8d) &&
	       bytes[2] == ((reg & 7) << 3 | 5);
}

/* Whether the register still has the loaded value at the call, which is at the end. */
static bool comes_to_end(const uint8_t *bytes, size_t size, int reg)
{
	size_t at = LOAD_SIZE;

	while (at < size) {
		struct arch_instruction i = x86_decode(bytes + at, size - at, 0);
		if (i.kind == INSTRUCTION_CALL)
			return at + i.size == size;
		if (i.kind == INSTRUCTION_BAD || i.kind == INSTRUCTION_JUMP ||
			i.kind == INSTRUCTION_RETURN ||
			x86_may_write(bytes + at, size - at, (uint8_t)reg))
			return false;
		at += i.size;
	}
	return false;
}

/* A call through a register that was loaded just before. */
static bool register_target(
	const uint8_t *bytes, size_t size, uint64_t return_addr, struct arch_target *target)
{
	const uint8_t *end = bytes + size;
	int reg = called_register(end);

	for (size_t back = LOAD_SIZE + 2; reg >= 0 && back <= size; back++) {
		const uint8_t *load = end - back;

		if (!is_load(load, reg) || !comes_to_end(load, back, reg))
			continue;
		*target = (struct arch_target){
			return_addr - back + LOAD_SIZE + distance_at(load + 3), load[1] == 0x8b};
		return true;
	}
	return false;
}

static bool call_target(
	const uint8_t *bytes, size_t size, uint64_t return_addr, struct arch_target *target)
{
	const uint8_t *end = bytes + size;

	if (size < SLOT_CALL_SIZE)
		return false;
	if (end[-CALL_SIZE] == 0xe8)
		*target = (struct arch_target){return_addr + distance_at(end - 4), false};
	else if (end[-SLOT_CALL_SIZE] == 0xff && end[1 - SLOT_CALL_SIZE] == 0x15)
		*target = (struct arch_target){return_addr + distance_at(end - 4), true};
	else
		return register_target(bytes, size, return_addr, target);
	return true;
}

/* An endbr64 or a bnd prefix, or both, or other instructions may come before the jump. */
static bool plt_slot(const uint8_t *bytes, size_t size, uint64_t addr, uint64_t *slot_addr)
{
	for (size_t i = 0; i + SLOT_CALL_SIZE <= size; i++) {
		if (bytes[i] != 0xff || bytes[i + 1] != 0x25)
			continue;
		*slot_addr = addr + i + SLOT_CALL_SIZE + distance_at(bytes + i + 2);
		return true;
	}
	return false;
}

/* 8 bytes unless they begin with endbr64. */
static size_t plt_got_stub_size(const uint8_t *bytes, size_t size)
{
	return size >= sizeof(endbr64) && memcmp(bytes, endbr64, sizeof(endbr64)) == 0 ? 16 : 8;
}

const struct arch arch_x86_64 = {
	.name = "x86_64",
	.machine = EM_X86_64,
	.dwarf_regs = dwarf_regs,
	.dwarf_count = ARRAY_SIZE(dwarf_regs),
	.perf_regs = perf_regs,
	.perf_count = ARRAY_SIZE(perf_regs),
	.perf_mask = 0xff01ff,
	.syscall_arguments = {5, 4, 1},					    /* rdi, rsi, rdx */
	.syscall_result = 0,						    /* rax */
	.syscall_saved_pc = 2,						    /* rcx */
	.callee_saved = 1u << ARCH_REG_BX | 1u << ARCH_REG_BP | 0xfu << 12, /* and r12 to r15 */
	.return_reg = ARCH_REG_PC,
	.return_mask = UINT64_MAX,
	/* The ucontext is at sp. */
	.signal_offset = {144, 136, 152, 128, 112, 104, 120, 160, 40, 48, 56, 64, 72, 80, 88, 96,
		168},
	/* mov $15, %rax; syscall */
	.signal_return = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05},
	.signal_return_size = 9,
	.signal_return_call = 7,
	.is_call = is_call,
	.decode = x86_decode,
	.fill_byte = 0xcc, /* int3 */
	.call_target = call_target,
	.stub_target = stub_target,
	.jump_slot_relocation = R_X86_64_JUMP_SLOT,
	.data_slot_relocation = R_X86_64_GLOB_DAT,
	.relative_relocation = R_X86_64_RELATIVE,
	.address_relocation = R_X86_64_64,
	.offset_relocation = R_X86_64_32,
	.module_code_is_in_order = true,
	.plt_slot = plt_slot,
	.plt_got_stub_size = plt_got_stub_size,
};
