#ifndef SONDE_OBJ_DWARF_CALLS_H
#define SONDE_OBJ_DWARF_CALLS_H

/*
 * A function's tail calls (DWARF 5 section 3.4.1): its call sites that jump instead of calling.
 * Also as GNU's extension of DWARF 4 has them.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct dwarf_unit;

/* Where a tail call jumps: the address of the jump, or, if that is 0, the address behind it. */
struct dwarf_tail_call {
	uint64_t jump, end;
};

struct dwarf_tail_calls {
	VEC(struct dwarf_tail_call) list;
	bool is_whole; /* the compiler promises that these are all */
};

/* Adds the tail calls of the function whose entry is at an offset of unit's .debug_info. */
void dwarf_tail_calls_read(struct dwarf_unit *unit, uint64_t entry, struct dwarf_tail_calls *calls);

#endif
