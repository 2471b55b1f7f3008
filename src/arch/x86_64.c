/*
 * x86-64. Its machine code is read by x86_code.c.
 *
 * Sources: the x86-64 psABI, figures 3.4 and 3.36; the kernel's asm/perf_regs.h, asm/sigcontext.h
 * and asm/ucontext.h; Intel SDM volume 2 for the call instruction.
 */
#include <elf.h>

#include "arch/arch.h"
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

/* How many bytes ModRM, SIB and displacement of an "FF /2" (call through memory) take. */
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
	/* FF, ModRM with 2 in its middle, operand: 2 to 7 bytes; a prefix in front does not matter.
	 */
	for (unsigned int size = 2; size <= 7; size++) {
		const uint8_t *op = bytes + 8 - size;
		if (op[0] == 0xff && (op[1] >> 3 & 7) == 2 && 1 + call_operand_size(op + 1) == size)
			return true;
	}
	return false;
}

const struct arch arch_x86_64 = {
	.name = "x86_64",
	.machine = EM_X86_64,
	.dwarf_regs = dwarf_regs,
	.dwarf_count = ARRAY_SIZE(dwarf_regs),
	.perf_regs = perf_regs,
	.perf_count = ARRAY_SIZE(perf_regs),
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
	.has_code_rules = true,
};
