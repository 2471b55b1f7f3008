#ifndef SONDE_ANALYSIS_NAME_READING_H
#define SONDE_ANALYSIS_NAME_READING_H

/*
 * How a name that a person types may mean a function.  C++ names are long; people do not type their
 * arguments, and few their scopes.  A search for a function uses the strictest reading that finds
 * one, and no looser one.
 */

#include <stdbool.h>

#include "base/str.h"

/* How much of a function's name was typed, the strictest first. */
enum reading { READING_WHOLE, READING_NO_ARGUMENTS, READING_NO_SCOPE, READING_NONE };

/* The strictest reading by which `wanted` means the function with that whole name. */
enum reading name_reading(struct str name, struct str wanted);
/* The strictest reading by which it means that name or one of its aliases (a NUL ends each). */
enum reading name_reading_of_any(struct str name, struct str aliases, struct str wanted);
/* Where arguments begin in a name; its size if it has none. */
size_t name_arguments_at(struct str name);
/*
 * Whether a function is in that namespace, or in one within it: "std" or "std::".  Its return type,
 * which templates' names begin with, does not count, nor do its arguments; in Rust's "<T as
 * Trait>", T counts.  std includes __gnu_cxx, which holds its internals.
 */
bool name_is_in(struct str name, struct str scope);

#endif
