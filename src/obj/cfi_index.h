#ifndef SONDE_OBJ_CFI_INDEX_H
#define SONDE_OBJ_CFI_INDEX_H

/*
 * Which entry (FDE) of a section is for an address.  Private to the compiler of CFI tables.
 *
 * .eh_frame_hdr has a table of (start, entry) that is sorted, so that an entry is found by
 * bisection, and only what is looked at is read.  A table is distrusted as soon as it turns out to
 * be out of order, or an entry is not for the function that the table says it is for.  Then, and
 * where there is none, all entries of the section are collected once; their programs are not run.
 *
 * Entries that overlap are faulty: the one that begins later wins, and of those that begin at the
 * same address the last one.
 *
 * Sources: LSB Core 5.0 section 10.6.2 (.eh_frame_hdr); the encoding of the table is the one that
 * all linkers write, the only one that can be bisected.
 */

#include "obj/cfi_parse.h"

enum cfi_index_state {
	CFI_INDEX_TABLE,   /* the table is believed */
	CFI_INDEX_NONE,	   /* there is no table, or not any more, and nothing is collected yet */
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

/* What a section says of an address: of [low, high), which holds it, all the same. */
struct cfi_stretch {
	uint64_t low, high; /* obj_addrs */
	bool has_fde;
	struct cfi_fde fde; /* that there is one entry for it, if so */
};

/* section may be NULL; header->size 0: there is none.  All is borrowed. */
void cfi_index_init(struct cfi_index *index, const struct cfi_section *section,
	const struct cfi_header *header, const struct cfi_object *object);
void cfi_index_deinit(struct cfi_index *index);
/* obj_addr is not UINT64_MAX. */
void cfi_index_find(struct cfi_index *index, uint64_t obj_addr, struct cfi_stretch *stretch);
size_t cfi_index_size_bytes(const struct cfi_index *index);

#endif
