#ifndef SONDE_OBJ_DWARF_RANGES_H
#define SONDE_OBJ_DWARF_RANGES_H

/*
 * The addresses that an entry covers: DW_AT_low_pc and DW_AT_high_pc, or DW_AT_ranges, a list in
 * .debug_ranges (DWARF 4 section 2.17.3) or .debug_rnglists (DWARF 5 section 2.17.3).
 */

#include "obj/dwarf_file.h"
#include "obj/dwarf_form.h"

struct dwarf_unit;

struct pc_ranges {
	struct pc_range *data;
	size_t count, capacity;
};

/*
 * Replaces the contents of *out by the ranges of an entry, given the values of the three
 * attributes.  Omits empty ranges and those outside the object's code.
 */
void pc_ranges_read(struct dwarf_unit *unit, const struct form_value *low_pc,
	const struct form_value *high_pc, const struct form_value *ranges, struct pc_ranges *out);

#endif
