#ifndef SONDE_OBJ_DWARF_SCOPE_H
#define SONDE_OBJ_DWARF_SCOPE_H

/*
 * Functions and inlined calls around addresses (DWARF 5 section 3.3), from one pass over a unit's
 * entries.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dwarf_unit;

#define NO_SCOPE UINT32_MAX

/* A function's own code, or that of a function inlined into its parent. */
struct scope {
	uint64_t entry;	    /* offset of its DIE in .debug_info */
	uint32_t parent;    /* the scope it is inlined into; NO_SCOPE: not inlined */
	uint32_t call_line; /* where the parent calls it */
	uint64_t call_file; /* for line_file_path */
};

struct scope_table {
	struct scope *data; /* parents before children */
	size_t count, capacity;
};

/*
 * Adds the scopes that contain any of addrs[count] (ascending) to an empty table, and sets
 * innermost[count] to the deepest scope at each address, or NO_SCOPE.
 */
void scope_table_read(struct scope_table *t, struct dwarf_unit *unit, const uint64_t *addrs,
	size_t count, uint32_t *innermost);
void scope_table_deinit(struct scope_table *t);

#endif
