#ifndef SONDE_ARCH_ARCH_H
#define SONDE_ARCH_ARCH_H

/*
 * Processors: what the unwinder and the readers of unwind information need to know about one.
 *
 * A profiler deals with two of them. It records on the one that sonde was built for, arch_here();
 * an ELF or perf.data file names its own.
 *
 * The unwinder follows a fixed set of registers, in slots: the stack pointer, the frame pointer,
 * the program counter, and registers in which callers may keep a stack address. Each processor maps
 * its DWARF numbers and perf's numbers to slots. On x86-64 a slot's number is the DWARF number.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/instruction.h"
#include "base/str.h"

enum {
	ARCH_REG_BX = 3, /* a callee-saved register that some frames' rules depend on */
	ARCH_REG_BP = 6, /* the frame pointer */
	ARCH_REG_SP = 7,
	ARCH_REG_PC = 16,
	ARCH_REG_COUNT = 17,
	ARCH_REG_NONE = 255, /* a register that is not followed */
};

/* How one of perf's registers is used. */
struct arch_perf_register {
	uint8_t reg; /* slot, or ARCH_REG_NONE */
	/*
	 * The kernel may not have saved it on entry to a system call; in samples taken in the
	 * kernel, perf then reports -1 instead of its value.
	 */
	bool unsaved_in_kernel;
};

/* The target of a call or jump: an address, or the slot in memory that holds it. */
struct arch_target {
	uint64_t addr;
	bool is_slot;
};

/* The number of bytes of a stub that are inspected. */
#define ARCH_STUB_BYTES 16

/*
 * One processor. To add one:
 *
 * 1. src/arch/NAME.c, ending in one const struct arch; every field is described below.
 * 2. A row in the array of src/arch/arch.c, and the file in src/arch/meson.build.
 * 3. tests/unit/test_unwind_NAME.c: a stack that is walked by rules, after test_unwind_aarch64.c.
 *
 * docs/howto/port.md lists what recording needs in addition.
 */
struct arch {
	const char *name; /* as uname -m and perf.data files spell it */
	uint16_t machine; /* EM_… of ELF files */

	/* The slot of each DWARF number, [dwarf_count]. */
	const uint8_t *dwarf_regs;
	size_t dwarf_count;
	/* By perf's number, [perf_count]: bit n of a sample's register mask is register n. */
	const struct arch_perf_register *perf_regs;
	size_t perf_count;
	uint64_t perf_mask; /* the registers that are followed, requested with each sample */
	/* Slots of a system call's first three arguments and of its result, or ARCH_REG_NONE. */
	uint8_t syscall_arguments[3];
	uint8_t syscall_result;
	/* The slot that holds the user's pc while in a system call, or ARCH_REG_NONE. */
	uint8_t syscall_saved_pc;
	/* Bit n: slot n is the same after a call as before it, unless an unwind rule differs. */
	uint32_t callee_saved;

	/*
	 * The slot whose rule yields the return address. If it is ARCH_REG_PC, calls push the
	 * return address; otherwise they leave it in that register, the link register.
	 */
	uint8_t return_reg;
	/* The address bits of a return address; the others may hold a signature. */
	uint64_t return_mask;

	/*
	 * The frame that a signal handler returns to: the offset from its stack pointer at which
	 * the kernel saved each slot, UINT16_MAX for none.
	 */
	uint16_t signal_offset[ARCH_REG_COUNT];
	/*
	 * The code at that address, which calls rt_sigreturn(2), and its first instruction's size;
	 * the second makes the system call.
	 */
	uint8_t signal_return[16];
	uint8_t signal_return_size, signal_return_call;

	/* Whether a call instruction ends at the end of the 8 bytes. */
	bool (*is_call)(const uint8_t bytes[8]);

	/*
	 * Decodes the instruction at bytes[0 .. size), size > 0, at address addr; the result is
	 * never longer than size. Used to derive rules from machine code (obj/code_frames.h and
	 * others). If NULL, code without unwind information ends the walk, and the functions below
	 * are not called.
	 */
	struct arch_instruction (*decode)(const uint8_t *bytes, size_t size, uint64_t addr);
	/* The byte that linkers and compilers put between functions, if it is not a nop. */
	uint8_t fill_byte;
	/*
	 * The target of the call that ends at the end of the bytes and returns to return_addr.
	 * False: these bytes do not show it, or there is no call.
	 */
	bool (*call_target)(const uint8_t *bytes, size_t size, uint64_t return_addr,
		struct arch_target *target);
	/* The target of a stub at addr that consists of a jump. False: not such a stub. */
	bool (*stub_target)(
		const uint8_t bytes[ARCH_STUB_BYTES], uint64_t addr, struct arch_target *target);

	/* Types of relocations: of a slot of the PLT or GOT, and of an address in the object. */
	uint32_t jump_slot_relocation, data_slot_relocation, relative_relocation;
	/* And in debug information: of an address, 8 bytes, and of an offset in a section, 4. */
	uint32_t address_relocation, offset_relocation;
	/* The kernel puts a module's sections of code one after another, without stubs between. */
	bool module_code_is_in_order;
	/* The slot that the stub with these bytes jumps through. False: none. */
	bool (*plt_slot)(const uint8_t *bytes, size_t size, uint64_t addr, uint64_t *slot_addr);
	/* The size of a stub in .plt.got, which begins with these bytes; others have 16. */
	size_t (*plt_got_stub_size)(const uint8_t *bytes, size_t size);
};

extern const struct arch arch_x86_64, arch_aarch64;

/* The processor that sonde was built for. */
const struct arch *arch_here(void);
/* By ELF machine or by name; NULL: unknown. */
const struct arch *arch_of_machine(unsigned int machine);
const struct arch *arch_of_name(struct str name);

/* The slot of a DWARF register number, or ARCH_REG_NONE. */
static inline unsigned int arch_reg(const struct arch *arch, uint64_t dwarf_number)
{
	return dwarf_number < arch->dwarf_count ? arch->dwarf_regs[dwarf_number] : ARCH_REG_NONE;
}

/* The bytes of the instruction that makes a system call. */
static inline struct str arch_syscall_code(const struct arch *arch)
{
	return (struct str){(const char *)arch->signal_return + arch->signal_return_call,
		(size_t)arch->signal_return_size - arch->signal_return_call};
}

static inline bool arch_has_link_register(const struct arch *arch)
{
	return arch->return_reg != ARCH_REG_PC;
}

#endif
