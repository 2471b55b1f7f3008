#ifndef SONDE_UNWIND_SPACE_H
#define SONDE_UNWIND_SPACE_H

/* The executable mappings of one process: which load object is at an address. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

struct arch;
struct cfi_table;

/*
 * A bit in a mapping's object number: the load object has not been opened yet, as no stack went
 * through it; the mapping has no table, and its slide is relative to file offsets.
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
	uint64_t generation;   /* unique to this state of this space, within this sonde process;
			      * caches use it as a key */
	uint64_t intact_since; /* the generation since which code was only added: what was
				* walked since then would be walked likewise now */
};

/* Initializes an empty space, for the processor that sonde was built for. */
void unwind_space_init(struct unwind_space *space);
void unwind_space_deinit(struct unwind_space *space);
/* Makes *copy a copy of *space, as fork does.  They share the generation until either changes. */
void unwind_space_copy(struct unwind_space *copy, const struct unwind_space *space);
/* Adds a mapping, which replaces whatever it overlaps, as with mmap(MAP_FIXED). */
void unwind_space_add(struct unwind_space *space, struct unwind_mapping mapping);
/*
 * Whether the space already has that mapping, pending or not, for example when mprotect reports it
 * again.
 */
bool unwind_space_has(const struct unwind_space *space, const struct unwind_mapping *mapping);
/* Removes [low, high). */
void unwind_space_remove(struct unwind_space *space, uint64_t low_va, uint64_t high_va);
void unwind_space_clear(struct unwind_space *space);
/* Gives the space a new generation, because code in it has changed. */
void unwind_space_touch(struct unwind_space *space);
/* The mapping at va, or NULL. */
const struct unwind_mapping *unwind_space_find(const struct unwind_space *space, uint64_t va);

#endif
