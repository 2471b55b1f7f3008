#ifndef SONDE_OBJ_DEMANGLE_H
#define SONDE_OBJ_DEMANGLE_H

/*
 * Linker names to the names that people wrote: C++ (Itanium ABI), Rust (legacy and v0) and D,
 * through libiberty.  A demangler remembers what it has done.
 *
 * Mangled names can be made to print as far more text than there are atoms to write it with, so
 * both what goes in and what comes out are capped.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"

/* Longer names are cut to this, and shown as they are. */
#define DEMANGLE_INPUT_MAX ((size_t)64 * 1024)
/* Longer results are cut, and end in "…". */
#define DEMANGLE_OUTPUT_MAX ((size_t)64 * 1024)

struct demangler;

must_use returns_owned struct demangler *demangler_create(void);
void demangler_destroy(struct demangler *d);

/* Whether a name is in one of the manglings known here, by its first letters. */
bool demangle_is_mangled(struct str name);
/* The name for people, or the name itself; lives in the demangler. */
struct str demangle(struct demangler *d, struct str name);

#endif
