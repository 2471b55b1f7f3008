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
	const struct arch *arch;
	uint64_t offset, size;	/* of the entry, in the section */
	const uint8_t *program; /* borrowed from the section */
	size_t program_size;
	uint64_t code_factor;
	int64_t data_factor;
	uint8_t pointer_encoding; /* DW_EH_PE_ of addresses in FDEs */
	bool has_augmentation;	  /* FDEs have sized augmentation data */
	bool is_signal;
	bool ready; /* initial is set, see cfi_program.h */
	bool bad;   /* its program is bad */
	struct cfi_slow_rule initial;
};

struct cfi_fde {
	uint64_t low, high; /* obj_addrs, [low, high) */
	uint64_t offset;    /* of the entry, in the section */
	uint32_t cie;	    /* index */
	const uint8_t *program;
	size_t program_size;
};

/* All entries of sections; their programs are not run. */
struct cfi_entries {
	const struct cfi_object *object;
	VEC(struct cfi_cie) cies;
	VEC(struct cfi_fde) fdes; /* in the order of the sections, then sorted */
	size_t bad;
};

void cfi_entries_deinit(struct cfi_entries *e);
/* Adds the entries of a section; reads the whole section. */
void cfi_entries_add(struct cfi_entries *e, const struct cfi_section *section);
/*
 * Sorts the FDEs by low address, equal ones in the order of their sections; drops those absurdly
 * far from the rest.
 */
void cfi_entries_sort(struct cfi_entries *e);

/* The CIEs of a section, each read when it is first needed. */
struct cfi_cies {
	struct map at; /* offset of the entry → index */
	VEC(struct cfi_cie) list;
};
void cfi_cies_deinit(struct cfi_cies *cies);
/*
 * Reads the FDE at an offset of the section into *fde, and its CIE into cies.  False: it is
 * invalid.
 */
bool cfi_fde_load(const struct cfi_section *section, const struct cfi_object *object,
	uint64_t offset, struct cfi_cies *cies, struct cfi_fde *fde);

/* Maximum distance between two addresses of one table. */
#define CFI_SPAN_MAX ((uint64_t)1 << 34)

/*
 * Reads an address in a DW_EH_PE_ encoding.  c's offsets count from the start of the section, which
 * is at section_addr.  Fails the cursor for encodings that are meaningless in a file.
 */
uint64_t cfi_read_address(
	struct cursor *c, uint8_t encoding, uint64_t section_addr, const struct cfi_object *object);

/*
 * The addresses that the FDE at an offset of the section covers, [*low, *high), which may be empty;
 * in bounded time.  False if there is no valid one.
 */
bool cfi_fde_read(const struct cfi_section *section, const struct cfi_object *object,
	uint64_t offset, uint64_t *low, uint64_t *high);

#endif
