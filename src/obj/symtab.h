#ifndef SONDE_OBJ_SYMTAB_H
#define SONDE_OBJ_SYMTAB_H

/*
 * The names of an object's functions by address, from its symbol tables: .symtab, or if stripped,
 * .dynsym and the table in .gnu_debugdata, or Go's own; and PLT stubs, named after their targets.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct objfile;
struct symtab;

struct symbol {
	uint64_t low, high; /* obj_addr, [low, high); if ranges nest, the innermost counts */
	/* As the linker saw it, without version and part number; lives as long as the objfiles. */
	struct str name;
	bool is_plt;  /* a PLT stub for that function */
	bool is_twin; /* another function, elsewhere, has the same local name */
	/* Of a local one: its source file's name; NULL: not known, or other twins have the same. */
	const char *file;
	uint64_t start; /* of the function: low is behind it after a range within it */
};

/*
 * Reads the tables of object and of its separate debug file (NULL: none); both must outlive the
 * symtab.  Never fails: missing or bad tables give no names.
 */
struct symtab *symtab_create(struct objfile *object, struct objfile *debug);
void symtab_destroy(struct symtab *t);

/* Whether it has the names of all functions, not just the exported ones. */
bool symtab_is_full(const struct symtab *t);
/* Ranges with a name. */
size_t symtab_count(const struct symtab *t);
/* The i-th range in order of addresses. */
struct symbol symtab_at(const struct symtab *t, size_t i);
/* True and sets *symbol if there is a known function at obj_addr. */
bool symtab_find(const struct symtab *t, uint64_t obj_addr, struct symbol *symbol);
/* The end of the last range that ends at or before obj_addr; 0: none does. */
uint64_t symtab_end_before(const struct symtab *t, uint64_t obj_addr);
/*
 * The best name of the function at obj_addr that also has the name `alias`: "malloc" for
 * "__libc_malloc".  False if the tables have no such name there.
 */
bool symtab_find_alias(
	const struct symtab *t, uint64_t obj_addr, struct str alias, struct symbol *symbol);
/*
 * The other names of the function `own` at obj_addr, without their versions, at most count of them.
 * Returns how many; 0 if the tables have no function `own` there.  Names of PLT stubs do not count.
 */
size_t symtab_aliases(
	const struct symtab *t, uint64_t obj_addr, struct str own, struct str *names, size_t count);

#endif
