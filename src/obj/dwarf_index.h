#ifndef SONDE_OBJ_DWARF_INDEX_H
#define SONDE_OBJ_DWARF_INDEX_H

/*
 * The unit whose code is at an address: from .debug_aranges (DWARF 5 section 6.1.2) for units
 * listed there, from their root entries for the others.
 */

#include <stddef.h>
#include <stdint.h>

struct dwarf_file;

#define DWARF_NO_UNIT UINT32_MAX

/*
 * Sets unit_of[count] to the index in f->units of the unit at each of addrs[count] (ascending), or
 * DWARF_NO_UNIT.  If several units have the same code (an inline function that each emitted and the
 * linker kept once), it is the first unit.
 */
void dwarf_index_find(struct dwarf_file *f, const uint64_t *addrs, size_t count, uint32_t *unit_of);

#endif
