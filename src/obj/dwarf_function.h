#ifndef SONDE_OBJ_DWARF_FUNCTION_H
#define SONDE_OBJ_DWARF_FUNCTION_H

/*
 * A function's name and definition.  An entry for code usually just refers to another entry: an
 * inlined call to the abstract function, a definition to its declaration in a class, possibly in
 * another unit or file.
 */

#include <stdint.h>

#include "base/str.h"

struct dwarf_unit;

struct function_facts {
	struct str name;	 /* as in the source */
	struct str linkage_name; /* mangled; empty: none */
	struct str file;	 /* whole path */
	uint32_t line;		 /* 0: unknown */
	/* The end of the chain of references: the declaration, in its namespace and class. */
	struct dwarf_unit *unit;
	uint64_t entry;
};

/*
 * Reads the facts of the entry at an offset of unit's .debug_info; strings live as long as the
 * sections.
 */
void function_facts_read(struct dwarf_unit *unit, uint64_t entry, struct function_facts *facts);

#endif
