#ifndef SONDE_OBJ_DEMANGLE_H
#define SONDE_OBJ_DEMANGLE_H

/*
 * Demangles linker names of C++ (Itanium ABI), Rust (legacy and v0) and D with libiberty.  A
 * demangler caches its results.
 *
 * A mangled name can demangle to an exponential amount of text, so input and output are both
 * limited.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"

/* Longer names are cut to this and not demangled. */
#define DEMANGLE_INPUT_MAX ((size_t)64 * 1024)
/* Longer results are cut, and end in "…". */
#define DEMANGLE_OUTPUT_MAX ((size_t)64 * 1024)

struct demangler;

must_use returns_owned struct demangler *demangler_create(void);
void demangler_destroy(struct demangler *d);

/* Whether a name has one of the supported manglings, by its first letters. */
bool demangle_is_mangled(struct str name);
/* The demangled name, or the name itself if it is not mangled; lives in the demangler. */
struct str demangle(struct demangler *d, struct str name);

#endif
