#ifndef SONDE_OBJ_DWARF_HOME_H
#define SONDE_OBJ_DWARF_HOME_H

/*
 * The namespaces, classes and functions that contain an entry in the source.  Compilers give no
 * linkage name to functions that only their own file can call (in anonymous namespaces or local
 * classes, lambdas), and without it, `run` is ambiguous.
 */

#include <stdint.h>

#include "base/str.h"

struct dwarf_unit;

/* Whether functions of this unit's language are distinguished by their scope: C++. */
bool dwarf_has_homes(struct dwarf_unit *unit);
/*
 * Adds to out the qualification of the function declared at entry: `a::(anonymous namespace)::b::`,
 * `main::{lambda#1}::`.  Adds nothing for a function that has no scope, or is declared in a
 * function, or if the text would be uselessly long.
 */
void dwarf_home_add(struct strbuf *out, struct dwarf_unit *unit, uint64_t entry, struct str name);

#endif
