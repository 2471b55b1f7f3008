#ifndef SONDE_OBJ_CFI_INDEX_H
#define SONDE_OBJ_CFI_INDEX_H

/*
 * Finds the entry (FDE) of a section for an address.  Private to the compiler of CFI tables.
 *
 * .eh_frame_hdr has a sorted table of (start, entry), so an entry is found by bisection, and only
 * the parts needed are read.  A table is rejected as soon as it is found to be unsorted, or an
 * entry is for a different function than the table claims.  Then, and if there is no table, all
 * entries of the section are collected once, without running their programs.
 *
 * Overlapping entries are invalid: the one that begins later wins, and among those that begin at
 * the same address, the last one.
 *
 * Sources: LSB Core 5.0 section 10.6.2 (.eh_frame_hdr); the encoding of the table is the one that
 * all linkers write, the only one that can be bisected.
 */

#include "obj/cfi_parse.h"

enum cfi_index_state {
	CFI_INDEX_TABLE,   /* the table is trusted */
	CFI_INDEX_NONE,	   /* there is no table, or it was rejected, and nothing is collected yet */
	CFI_INDEX_ENTRIES, /* all entries are collected */
};

/* Where an entry is. */
struct cfi_entry_place {
	uint64_t low;
	uint64_t offset;
};

struct cfi_index {
	const struct cfi_section *section; /* NULL: there are no entries */
	const struct cfi_header *header;
	const struct cfi_object *object;
	enum cfi_index_state state;
	uint64_t table_off; /* in the header */
	size_t count;
	VEC(struct cfi_entry_place) entries; /* [count], if they are collected */
	struct cfi_cies cies;
	size_t bad; /* entries that were met so far */
};

/* What a section has for an address, and for all others in [low, high), which contains it. */
struct cfi_stretch {
	uint64_t low, high; /* obj_addrs */
	bool has_fde;
	struct cfi_fde fde; /* if has_fde: the entry */
};

/* section may be NULL; header->size 0: there is none.  All is borrowed. */
void cfi_index_init(struct cfi_index *index, const struct cfi_section *section,
	const struct cfi_header *header, const struct cfi_object *object);
void cfi_index_deinit(struct cfi_index *index);
/* obj_addr is not UINT64_MAX. */
void cfi_index_find(struct cfi_index *index, uint64_t obj_addr, struct cfi_stretch *stretch);
size_t cfi_index_size_bytes(const struct cfi_index *index);

#endif
