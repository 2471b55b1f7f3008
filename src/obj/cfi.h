#ifndef SONDE_OBJ_CFI_H
#define SONDE_OBJ_CFI_H

/*
 * Call frame information of one load object, from .eh_frame and .debug_frame, or, for code that
 * neither covers, derived from that code; stored as rules in a small dictionary.
 *
 * Nothing is read until an address is looked up, and then only what its function needs; its rules
 * are stored in rows that are fast to look up.
 *
 * Only one thread may use a table at a time, because a look-up may read and compile.  Returned
 * rules stay valid and unchanged until the table is destroyed.
 *
 * Sources: DWARF 5 section 6.4, the LSB's chapter on .eh_frame, the x86-64 psABI.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"
#include "base/error.h"
#include "base/str.h"

enum cfi_kind {
	CFI_NONE, /* no rule covers this address */
	CFI_SP,	  /* CFA = sp + cfa_offset */
	CFI_BP,	  /* CFA = bp + cfa_offset */
	CFI_PLT,  /* the expression that linkers give to .plt: CFA = sp + 8 + ((pc & 15) >= 11) * 8
		   */
	CFI_SIGNAL,	   /* a signal frame: the ucontext at sp holds all registers */
	CFI_END,	   /* the return address is undefined: the outermost frame */
	CFI_CODE_SP,	   /* as CFI_SP, derived from the code (obj/code_frames.h): to be checked */
	CFI_CODE_BP,	   /* as CFI_BP, likewise */
	CFI_CODE_SAVED,	   /* CFA = the value in memory at sp + origin, + cfa_offset; likewise */
	CFI_CODE_REGISTER, /* CFA = register number origin + cfa_offset; likewise */
	CFI_GO,		   /* code of Go's runtime on another stack than its caller's: see go */
	CFI_SLOW,	   /* anything else: see cfi_table_slow */
};

/* How a function of Go's runtime runs on another stack (unwind/go_stack.h steps out of it). */
enum cfi_go_kind {
	CFI_GO_NONE,
	CFI_GO_SYSTEMSTACK,   /* a goroutine's call, on the thread's own stack */
	CFI_GO_MCALL,	      /* the same, and the goroutine may be left */
	CFI_GO_MORESTACK,     /* the same, to move the goroutine's stack */
	CFI_GO_ASMCGOCALL,    /* a call of C, with the goroutine's place in the frame */
	CFI_GO_FRAME_POINTER, /* bp is its frame's on the stack that it came from */
	CFI_GO_SIGNAL_RETURN, /* the code that signal handlers return to */
};

/* Addresses in a program with Go's runtime, in the object's numbering; 0: it has none. */
enum { CFI_GO_STARTS = 2, CFI_GO_FUNCTIONS_MAX = 32 };
struct cfi_go {
	uint64_t systemstack;
	uint64_t schedule_low, schedule_high; /* the scheduler, which is never returned from */
	uint64_t starts[CFI_GO_STARTS];	      /* where a thread's own stack begins */
	uint64_t scheduler_return; /* in the function that the scheduler's caller returns to */
	uint64_t callback_switch;  /* where C's call of Go has switched to the goroutine's stack */
	int32_t curg_offset;	   /* of m.curg */
	/* The thread's g is at this offset from its control block, or at one that is at g_slot. */
	int32_t g_offset; /* 0: unknown */
	uint64_t g_slot;  /* filled in by the loader; 0: none */
	/* Starts of the functions that have code on another stack, or switch otherwise. */
	uint64_t functions[CFI_GO_FUNCTIONS_MAX];
	size_t function_count;
};

/* Offsets in bytes. The return address is at CFA - 8 in all kinds but CFI_SIGNAL,
 * CFI_END and CFI_SLOW. */
struct cfi_rule {
	enum cfi_kind kind;
	int32_t cfa_offset;
	int32_t bp_offset; /* bp is saved at CFA + bp_offset; 0: bp is unchanged */
	union {
		int32_t bx_offset;   /* the same for rbx, which some outer frames may need */
		uint32_t slow;	     /* CFI_SLOW: index for cfi_table_slow */
		enum cfi_go_kind go; /* CFI_GO */
	};
	int32_t origin; /* CFI_CODE_SAVED, CFI_CODE_REGISTER */
};

/* Registers by slot (arch/arch.h).  In rules, the return address has the slot arch->return_reg. */
enum {
	CFI_REGISTER_BX = ARCH_REG_BX,
	CFI_REGISTER_BP = ARCH_REG_BP,
	CFI_REGISTER_SP = ARCH_REG_SP,
	CFI_REGISTER_RA = ARCH_REG_PC, /* where calls push it */
	CFI_REGISTER_COUNT = ARCH_REG_COUNT
};

/* How to find the caller's value of a register; `value` is that of struct cfi_slow_rule. */
enum cfi_how {
	CFI_DEFAULT,	   /* unspecified: callee-saved registers are unchanged, sp is the CFA */
	CFI_SAME,	   /* unchanged */
	CFI_UNDEFINED,	   /* lost */
	CFI_AT_CFA,	   /* in memory at CFA + value */
	CFI_CFA_PLUS,	   /* is CFA + value */
	CFI_REGISTER,	   /* in register number value */
	CFI_AT_EXPRESSION, /* in memory at what expression number value gives (CFA on its stack) */
	CFI_EXPRESSION,	   /* the result of expression number value (the CFA on its stack) */
};

/* One row in full. */
struct cfi_slow_rule {
	int32_t cfa_value; /* offset from the register, or number of an expression */
	int32_t value[CFI_REGISTER_COUNT]; /* see enum cfi_how */
	uint8_t how[CFI_REGISTER_COUNT];   /* enum cfi_how */
	uint8_t cfa_is_expression;
	uint8_t cfa_register;
	uint8_t is_signal;    /* a signal frame: the caller was interrupted and did not call */
	uint8_t is_from_code; /* not from a section */
	uint8_t go;	      /* enum cfi_go_kind */
};

enum cfi_section_kind {
	CFI_DEBUG_FRAME,
	CFI_EH_FRAME,
	CFI_EH_FRAME_UNSIZED, /* ends at its first terminator; something else follows */
};

struct lazy_bytes;
struct cfi_section {
	const uint8_t *bytes;
	size_t size;
	uint64_t obj_addr;
	enum cfi_section_kind kind;
	struct lazy_bytes *lazy; /* the source of bytes; NULL: all bytes are there */
};

/* .eh_frame_hdr: where the entries of .eh_frame are, sorted by address.  size 0: none. */
struct cfi_header {
	const uint8_t *bytes;
	size_t size;
	uint64_t obj_addr;
	struct lazy_bytes *lazy;
};

/* Code without rules of its own, but with a known frame. */
struct cfi_bare {
	uint64_t low_addr, high_addr; /* obj_addrs, [low, high) */
	bool is_outermost;
	int32_t cfa_offset;  /* if it is not: CFA = sp + cfa_offset, nothing is saved */
	enum cfi_go_kind go; /* CFI_GO_NONE: it is not on another stack */
};

/* The object's code, to derive missing rules from. */
struct code_starts;
enum { CFI_CODE_RANGES_MAX = 32 };
struct cfi_code {
	struct {
		uint64_t low, high;    /* obj_addrs, [low, high) */
	} ranges[CFI_CODE_RANGES_MAX]; /* ascending, disjoint */
	size_t count;
	/* Copies code; false if it is not all there. */
	bool (*read)(void *context, uint64_t obj_addr, uint8_t *bytes, size_t size);
	/* Adds the starts of functions known from symbols, including those outside code. */
	void (*add_starts)(void *context, struct code_starts *starts);
	void *context;
	const struct arch *arch; /* of the code, if there are ranges */
};

/* Further facts about the object. */
struct cfi_object {
	const char *name;	 /* for messages */
	const struct arch *arch; /* NULL: the one that sonde was built for */
	uint64_t text_addr,
		data_addr; /* of .text and .got: addresses may be relative to them; or 0 */
	const struct cfi_bare *bare; /* ascending, disjoint */
	size_t bare_count;
	const struct cfi_code *code; /* NULL: rules come from sections only */
	const uint64_t *distrusted;  /* [distrusted_count]: functions whose entries are wrong */
	size_t distrusted_count;
	const struct cfi_go *go; /* NULL: not a Go program */
};

/* What a table is made of. */
enum { CFI_SECTIONS_MAX = 2 };
struct cfi_source {
	struct cfi_section sections[CFI_SECTIONS_MAX];
	size_t section_count;
	struct cfi_header header; /* of the section of kind CFI_EH_FRAME or CFI_EH_FRAME_UNSIZED */
	struct cfi_object object;
};

struct cfi_table;

/*
 * Opens a table.  It takes ownership of the source's lazy bytes and copies what object points to.
 * It borrows bytes that are not lazy, the name and the code's context, which must outlive it.  If
 * several sources cover an address, .eh_frame wins, then .debug_frame, then bare code.
 */
must_use struct cfi_table *cfi_table_open(const struct cfi_source *source);
void cfi_table_destroy(struct cfi_table *table);

/* The rule for an address in the object's numbering; never NULL (a CFI_NONE rule instead). */
const struct cfi_rule *cfi_table_find(struct cfi_table *table, uint64_t obj_addr);
/* The start of the function that has rules for obj_addr.  False: none has, or it is unknown. */
bool cfi_table_function(struct cfi_table *table, uint64_t obj_addr, uint64_t *start_addr);
/* The row of a CFI_SLOW rule, and the bytes of an expression; index must come from the table. */
const struct cfi_slow_rule *cfi_table_slow(const struct cfi_table *table, uint32_t index);
struct str cfi_table_expression(const struct cfi_table *table, int32_t index);
/* NULL: not a Go program. */
const struct cfi_go *cfi_table_go(const struct cfi_table *table);

/* The number of unreadable entries found so far; they are skipped. */
size_t cfi_table_bad_entries(const struct cfi_table *table);
size_t cfi_table_rule_count(const struct cfi_table *table);
/* The memory it takes; CFI_CACHE_MAX in obj/cfi_pages.h limits it. */
size_t cfi_table_size_bytes(const struct cfi_table *table);

#endif
