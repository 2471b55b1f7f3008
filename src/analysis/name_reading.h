#ifndef SONDE_ANALYSIS_NAME_READING_H
#define SONDE_ANALYSIS_NAME_READING_H

/*
 * How a name that a person types may mean a function.  C++ names are long; nobody types their
 * arguments, and few their scopes.  Whoever looks for a function takes the strictest reading by
 * which there is one, and no looser one.
 */

#include <stdbool.h>

#include "base/str.h"

/* How much of a function's name was typed, the strictest first. */
enum reading { READING_WHOLE, READING_NO_ARGUMENTS, READING_NO_SCOPE, READING_NONE };

/* The strictest by which `wanted` means the function of that whole name. */
enum reading name_reading(struct str name, struct str wanted);
/* The strictest by which it means that name or one of its aliases (a NUL ends each). */
enum reading name_reading_of_any(struct str name, struct str aliases, struct str wanted);
/* Where arguments begin in a name; its size where it has none. */
size_t name_arguments_at(struct str name);
/*
 * Whether a function is in that namespace, or in one within it: "std" or "std::".  The type that it
 * returns, which templates' names begin with, does not count, nor its arguments; of "<T as Trait>",
 * as Rust has it, T does.  With std goes __gnu_cxx, which its insides are in.
 */
bool name_is_in(struct str name, struct str scope);

#endif
