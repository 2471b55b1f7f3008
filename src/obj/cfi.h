#ifndef SONDE_OBJ_CFI_H
#define SONDE_OBJ_CFI_H

/*
 * Call frame information of one load object, compiled whole from .eh_frame and .debug_frame, and
 * for code that neither covers from that code, into rows that are fast to look up: (obj_addr, rule
 * number), the rules a small dictionary.
 *
 * Sources: DWARF 5 section 6.4, the LSB's chapter on .eh_frame, the x86-64 psABI.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

enum cfi_kind {
	CFI_NONE, /* no rule covers this address */
	CFI_SP,	  /* CFA = sp + cfa_offset */
	CFI_BP,	  /* CFA = bp + cfa_offset */
	CFI_PLT,  /* the expression that linkers give to .plt: CFA = sp + 8 + ((pc & 15) >= 11) * 8
		   */
	CFI_SIGNAL,  /* a signal frame: the ucontext at sp holds all registers */
	CFI_END,     /* the return address is undefined: the outermost frame */
	CFI_CODE_SP, /* as CFI_SP, read off the code (obj/code_frames.h): to be checked */
	CFI_CODE_BP, /* as CFI_BP, likewise */
	CFI_SLOW,    /* anything else: see cfi_table_slow */
};

/* Offsets in bytes. The return address is at CFA - 8 in all kinds but CFI_SIGNAL,
 * CFI_END and CFI_SLOW. */
struct cfi_rule {
	enum cfi_kind kind;
	int32_t cfa_offset;
	int32_t bp_offset; /* bp is saved at CFA + bp_offset; 0: bp is unchanged */
	union {
		int32_t bx_offset; /* the same of rbx, which some frames further out may hang on */
		uint32_t slow;	   /* CFI_SLOW: index for cfi_table_slow */
	};
};

/* x86-64 numbering; 16 is the return address. */
enum {
	CFI_REGISTER_BX = 3,
	CFI_REGISTER_BP = 6,
	CFI_REGISTER_SP = 7,
	CFI_REGISTER_RA = 16,
	CFI_REGISTER_COUNT = 17
};

/* How the caller's value of a register is found; `value` of struct cfi_slow_rule says where. */
enum cfi_how {
	CFI_DEFAULT,	   /* nothing said: callee-saved ones are unchanged, sp is the CFA */
	CFI_SAME,	   /* unchanged */
	CFI_UNDEFINED,	   /* lost */
	CFI_AT_CFA,	   /* in memory at CFA + value */
	CFI_CFA_PLUS,	   /* is CFA + value */
	CFI_REGISTER,	   /* in register number value */
	CFI_AT_EXPRESSION, /* in memory where expression number value says (the CFA on its stack) */
	CFI_EXPRESSION,	   /* what expression number value says (the CFA on its stack) */
};

/* One row in full. */
struct cfi_slow_rule {
	int32_t cfa_value; /* offset from the register, or number of an expression */
	int32_t value[CFI_REGISTER_COUNT]; /* see enum cfi_how */
	uint8_t how[CFI_REGISTER_COUNT];   /* enum cfi_how */
	uint8_t cfa_is_expression;
	uint8_t cfa_register;
	uint8_t is_signal;    /* a signal frame: the caller was interrupted, it did not call */
	uint8_t is_from_code; /* not from a section */
};

enum cfi_section_kind {
	CFI_DEBUG_FRAME,
	CFI_EH_FRAME,
	CFI_EH_FRAME_UNSIZED, /* ends at its first terminator; what follows is something else */
};

struct cfi_section {
	const uint8_t *bytes;
	size_t size;
	uint64_t obj_addr;
	enum cfi_section_kind kind;
};

/* Code that has no rules of its own, but whose frame is known all the same. */
struct cfi_bare {
	uint64_t low_addr, high_addr; /* obj_addrs, [low, high) */
	bool is_outermost;
	int32_t cfa_offset; /* if it is not: CFA = sp + cfa_offset, nothing is saved */
};

/* The object's code, for what has no rules. */
struct code_starts;
enum { CFI_CODE_RANGES_MAX = 32 };
struct cfi_code {
	struct {
		uint64_t low, high;    /* obj_addrs, [low, high) */
	} ranges[CFI_CODE_RANGES_MAX]; /* ascending, disjoint */
	size_t count;
	/* Copies code; false if it is not all there. */
	bool (*read)(void *context, uint64_t obj_addr, uint8_t *bytes, size_t size);
	/* Adds where functions begin, as far as symbols say. */
	void (*add_starts)(void *context, struct code_starts *starts);
	void *context;
};

/* What is to be known of the object besides. */
struct cfi_object {
	const char *name; /* for messages */
	uint64_t text_addr,
		data_addr; /* of .text and .got, that addresses may be relative to; or 0 */
	const struct cfi_bare *bare; /* ascending, disjoint */
	size_t bare_count;
	const struct cfi_code *code; /* NULL: rules come from sections alone */
	const uint64_t *distrusted;  /* [distrusted_count]: functions whose entries are wrong */
	size_t distrusted_count;
};

struct cfi_table;

/*
 * Compiles sections; the table keeps nothing of their bytes.  Where two cover an address, .eh_frame
 * wins, then .debug_frame, then what is known of bare code.  Bad entries are passed over and
 * counted in *bad_entries; fails only where there are entries and all are bad.
 */
must_use struct error *cfi_table_compile(const struct cfi_section *sections, size_t count,
	const struct cfi_object *object, struct cfi_table **table, size_t *bad_entries);
void cfi_table_destroy(struct cfi_table *table);

/* The rule for an address in the object's numbering; never NULL (a CFI_NONE rule instead). */
const struct cfi_rule *cfi_table_find(const struct cfi_table *table, uint64_t obj_addr);
/* Where the function begins that has rules for obj_addr.  False: none has, or it is not known. */
bool cfi_table_function(const struct cfi_table *table, uint64_t obj_addr, uint64_t *start_addr);
/* The row behind a CFI_SLOW rule, and an expression's bytes; index must come from the table. */
const struct cfi_slow_rule *cfi_table_slow(const struct cfi_table *table, uint32_t index);
struct str cfi_table_expression(const struct cfi_table *table, int32_t index);

size_t cfi_table_row_count(const struct cfi_table *table);
size_t cfi_table_rule_count(const struct cfi_table *table);
size_t cfi_table_size_bytes(const struct cfi_table *table);

#endif
