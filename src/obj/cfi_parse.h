#ifndef SONDE_OBJ_CFI_PARSE_H
#define SONDE_OBJ_CFI_PARSE_H

/*
 * The entries of .eh_frame and .debug_frame: CIEs (what functions have in common) and FDEs (one
 * function's rules, a program).  Private to the compiler of CFI tables.
 */

#include "base/cursor.h"
#include "base/map.h"
#include "base/vec.h"
#include "obj/cfi.h"

struct cfi_cie {
	const uint8_t *program; /* borrowed from the section */
	size_t program_size;
	uint64_t code_factor;
	int64_t data_factor;
	uint8_t pointer_encoding; /* DW_EH_PE_ of addresses in FDEs */
	bool has_augmentation;	  /* FDEs have sized augmentation data */
	bool is_signal;
	bool ready; /* initial is set; see cfi_program.h */
	bool bad;   /* its program is */
	struct cfi_slow_rule initial;
};

struct cfi_fde {
	uint64_t low, high; /* obj_addrs, [low, high) */
	uint32_t cie;	    /* index */
	uint32_t section;   /* index */
	const uint8_t *program;
	size_t program_size;
};

struct cfi_entries {
	const struct cfi_section *sections;
	const struct cfi_object *object;
	VEC(struct cfi_cie) cies;
	VEC(struct cfi_fde) fdes; /* in the order of the sections, then sorted */
	size_t bad, seen;
};

void cfi_entries_deinit(struct cfi_entries *e);
/* Adds the entries of section number `section`. */
void cfi_entries_add(struct cfi_entries *e, uint32_t section);
/*
 * Sorts the FDEs by low address, those that begin at the same one in the order of their sections;
 * drops what lies absurdly far from the rest.
 */
void cfi_entries_sort(struct cfi_entries *e);

/* Farthest that two addresses of one table may be apart. */
#define CFI_SPAN_MAX ((uint64_t)1 << 34)

/*
 * Reads an address encoded as DW_EH_PE_ says; c's offsets count from the start of the section,
 * which is at section_addr. Fails the cursor for encodings that make no sense in a file.
 */
uint64_t cfi_read_address(
	struct cursor *c, uint8_t encoding, uint64_t section_addr, const struct cfi_object *object);

/*
 * The addresses that the FDE at an offset of the section is for, [*low, *high), which may be
 * empty; in bounded time.  False if no sound one is there.
 */
bool cfi_fde_read(const struct cfi_section *section, const struct cfi_object *object,
	uint64_t offset, uint64_t *low, uint64_t *high);

#endif
