#ifndef SONDE_UNWIND_SPACE_H
#define SONDE_UNWIND_SPACE_H

/*
 * The executable mappings of one process: which load object stands at an address.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

struct arch;
struct cfi_table;

/*
 * In a mapping's object number: the load object was not opened yet, as no stack has gone through
 * it; the mapping has no table, and its slide counts file offsets.
 */
#define UNWIND_PENDING ((uint32_t)1 << 31)

struct unwind_mapping {
	uint64_t low_va, high_va; /* [low, high) */
	uint64_t slide;		  /* obj_addr = va - slide, modulo 2^64 */
	struct cfi_table *table;  /* borrowed, outlives the space; NULL: no unwind rules */
	uint32_t object;	  /* the caller's number for the load object */
};

struct unwind_space {
	const struct arch *arch;	 /* of the process */
	struct unwind_mapping *mappings; /* sorted, disjoint */
	size_t count, capacity;
	uint64_t generation; /* unique to this state of this space in this process of ours: no two
				different states ever have the same; caches are keyed by it */
};

/* An empty one, of the processor that sonde was built for. */
void unwind_space_init(struct unwind_space *space);
void unwind_space_deinit(struct unwind_space *space);
/* Makes *copy what *space is, as fork does.  The generation is shared until either changes. */
void unwind_space_copy(struct unwind_space *copy, const struct unwind_space *space);
/* Adds a mapping; what it overlaps gives way, as with mmap(MAP_FIXED). */
void unwind_space_add(struct unwind_space *space, struct unwind_mapping mapping);
/* Whether it has that mapping, pending or not, as when mprotect tells of it again. */
bool unwind_space_has(const struct unwind_space *space, const struct unwind_mapping *mapping);
/* Removes [low, high). */
void unwind_space_remove(struct unwind_space *space, uint64_t low_va, uint64_t high_va);
void unwind_space_clear(struct unwind_space *space);
/* Code in it is now other code: the space is in another state. */
void unwind_space_touch(struct unwind_space *space);
/* The mapping at va, or NULL. */
const struct unwind_mapping *unwind_space_find(const struct unwind_space *space, uint64_t va);

#endif
