#ifndef SONDE_OBJ_DWARF_LINE_H
#define SONDE_OBJ_DWARF_LINE_H

/*
 * Line tables (DWARF 5 section 6.2): a program for a small machine that produces, in address order,
 * the file and line of each instruction; before it, a list of files, whose numbers entries of
 * .debug_info also use.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct dwarf_unit;

struct line_row {
	bool is_known;
	uint32_t file; /* for line_file_path */
	uint32_t line; /* 0: code without a line */
};

/*
 * Runs the unit's line program once and fills rows[count] for addrs[count] (ascending); rows that
 * no sequence covers are unchanged.
 */
void line_rows_find(
	struct dwarf_unit *unit, const uint64_t *addrs, size_t count, struct line_row *rows);

/* The whole path of a file by its number in the unit's line table; empty if there is none. */
struct str line_file_path(struct dwarf_unit *unit, uint64_t number);

#endif
