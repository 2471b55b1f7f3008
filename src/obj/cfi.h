#ifndef SONDE_OBJ_CFI_H
#define SONDE_OBJ_CFI_H

/*
 * Call frame information of one load object, compiled whole from .eh_frame (or .debug_frame) into
 * rows that are fast to look up: (obj_addr, rule number), the rules a small dictionary.
 *
 * Sources: DWARF 5 section 6.4, the LSB's chapter on .eh_frame, the x86-64 psABI.
 */

#include <stdint.h>
#include <stddef.h>

#include "base/error.h"
#include "base/str.h"

enum cfi_kind {
	CFI_NONE,   /* no rule covers this address */
	CFI_SP,	    /* CFA = sp + cfa_offset */
	CFI_BP,	    /* CFA = bp + cfa_offset */
	CFI_PLT,    /* the expression that linkers give to .plt: CFA = sp + 8 + ((pc & 15) >= 11) * 8 */
	CFI_SIGNAL, /* a signal frame: the ucontext at sp holds all registers */
	CFI_END,    /* the return address is undefined: the outermost frame */
	CFI_SLOW,   /* anything else: see cfi_table_slow */
};

/* Offsets in bytes. The return address is at CFA - 8 in all kinds but the last three. */
struct cfi_rule {
	enum cfi_kind kind;
	int32_t cfa_offset;
	int32_t bp_offset; /* bp is saved at CFA + bp_offset; 0: bp is unchanged */
	uint32_t slow;	   /* CFI_SLOW: index for cfi_table_slow */
};

struct cfi_table;

/*
 * Compiles a section. eh_frame: whether the bytes are .eh_frame (else .debug_frame). section_va is
 * its address in the object's numbering; text_va, data_va are the bases for encodings relative to
 * .text and .got (0 if there are none). name is for messages. Bad entries are passed over and
 * counted in *bad_entries; fails only where nothing can be read at all.
 */
must_use struct error *cfi_table_compile(const uint8_t *bytes, size_t size, uint64_t section_va,
	uint64_t text_va, uint64_t data_va, int eh_frame, const char *name, struct cfi_table **table,
	size_t *bad_entries);
void cfi_table_destroy(struct cfi_table *table);

/* The rule for an address in the object's numbering; never NULL (a CFI_NONE rule instead). */
const struct cfi_rule *cfi_table_find(const struct cfi_table *table, uint64_t obj_addr);

size_t cfi_table_row_count(const struct cfi_table *table);
size_t cfi_table_rule_count(const struct cfi_table *table);
size_t cfi_table_size_bytes(const struct cfi_table *table);

#endif
