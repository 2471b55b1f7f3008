/*
 * aarch64, little-endian: enough to read its files and to unwind its stacks with unwind rules.
 * sonde does not record on it yet, and derives no rules from its machine code.
 *
 * Functions may sign their return address with sp (pointer authentication); the signature bits of a
 * 48-bit address space are cut off.
 *
 * Sources: AADWARF64 section 4.1, AAPCS64 section 6.1; the kernel's asm/perf_regs.h,
 * asm/sigcontext.h and arch/arm64/kernel/signal.c; the Arm ARM for BL, BLR and their variants.
 */
#include <elf.h>

#include "arch/arch.h"
#include "base/compiler.h"

/* Slots of x20 to x28; ARCH_REG_BX is x19. */
enum { X20 = 0, X21, X22, X23 = 4, X24, X25 = 8, X26, X27, X28, LINK = 15 };
enum { NONE = ARCH_REG_NONE };

/* x0 to x30, sp, pc. Arguments and temporaries are not followed. */
static const uint8_t dwarf_regs[] = {NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE,
	NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, ARCH_REG_BX, X20, X21, X22, X23, X24,
	X25, X26, X27, X28, ARCH_REG_BP, LINK, ARCH_REG_SP, ARCH_REG_PC};

/* perf's numbers are DWARF's. */
static const struct arch_perf_register perf_regs[] = {
	[0] = {NONE, false},
	[1] = {NONE, false},
	[2] = {NONE, false},
	[3] = {NONE, false},
	[4] = {NONE, false},
	[5] = {NONE, false},
	[6] = {NONE, false},
	[7] = {NONE, false},
	[8] = {NONE, false},
	[9] = {NONE, false},
	[10] = {NONE, false},
	[11] = {NONE, false},
	[12] = {NONE, false},
	[13] = {NONE, false},
	[14] = {NONE, false},
	[15] = {NONE, false},
	[16] = {NONE, false},
	[17] = {NONE, false},
	[18] = {NONE, false},
	[19] = {ARCH_REG_BX, false},
	[20] = {X20, false},
	[21] = {X21, false},
	[22] = {X22, false},
	[23] = {X23, false},
	[24] = {X24, false},
	[25] = {X25, false},
	[26] = {X26, false},
	[27] = {X27, false},
	[28] = {X28, false},
	[29] = {ARCH_REG_BP, false},
	[30] = {LINK, false},
	[31] = {ARCH_REG_SP, false},
	[32] = {ARCH_REG_PC, false},
};

/* BL, or BLR and its authenticating variants. */
static bool is_call(const uint8_t bytes[8])
{
	uint32_t word = (uint32_t)bytes[4] | (uint32_t)bytes[5] << 8 | (uint32_t)bytes[6] << 16 |
			(uint32_t)bytes[7] << 24;

	return (word & 0xfc000000) == 0x94000000 || (word & 0xfffffc1f) == 0xd63f0000 ||
	       (word & 0xfefff800) == 0xd63f0800;
}

/* At sp is a siginfo of 128 bytes, then the ucontext, whose mcontext has x0 at 184. */
#define SAVED(number) (128 + 184 + 8 * (number))

const struct arch arch_aarch64 = {
	.name = "aarch64",
	.machine = EM_AARCH64,
	.dwarf_regs = dwarf_regs,
	.dwarf_count = ARRAY_SIZE(dwarf_regs),
	.perf_regs = perf_regs,
	.perf_count = ARRAY_SIZE(perf_regs),
	.perf_mask = UINT64_C(0x1fff80000),
	.syscall_arguments = {NONE, NONE, NONE},
	.syscall_result = NONE,
	.syscall_saved_pc = NONE,
	.callee_saved = 1u << ARCH_REG_BX | 1u << X20 | 1u << X21 | 1u << X22 | 1u << X23 |
			1u << X24 | 1u << X25 | 1u << X26 | 1u << X27 | 1u << X28 |
			1u << ARCH_REG_BP | 1u << LINK,
	.return_reg = LINK,
	.return_mask = (UINT64_C(1) << 48) - 1,
	.signal_offset = {[ARCH_REG_BX] = SAVED(19),
		[X20] = SAVED(20),
		[X21] = SAVED(21),
		[X22] = SAVED(22),
		[X23] = SAVED(23),
		[X24] = SAVED(24),
		[X25] = SAVED(25),
		[X26] = SAVED(26),
		[X27] = SAVED(27),
		[X28] = SAVED(28),
		[ARCH_REG_BP] = SAVED(29),
		[LINK] = SAVED(30),
		[ARCH_REG_SP] = SAVED(31),
		[ARCH_REG_PC] = SAVED(32),
		[12] = UINT16_MAX,
		[13] = UINT16_MAX,
		[14] = UINT16_MAX},
	/* mov x8, #139; svc #0 */
	.signal_return = {0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4},
	.signal_return_size = 8,
	.signal_return_call = 4,
	.is_call = is_call,
	.address_relocation = R_AARCH64_ABS64,
	.offset_relocation = R_AARCH64_ABS32,
};
