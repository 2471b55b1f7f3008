#ifndef SONDE_ANALYSIS_FUNCTION_FIND_H
#define SONDE_ANALYSIS_FUNCTION_FIND_H

/*
 * The functions that a person means by a name: "eval", "lisp`eval" for one module's, "eval.c`eval"
 * for one file's.
 *
 * Taken as meant are the functions whose whole name, or whole alias, it is; if there is none, those
 * whose name it is without arguments (`parse` for `parse(int)`); if there is none, without the
 * scope, too (`parse` for `json::reader<char>::parse(int)`).
 */

#include "analysis/stack_walk.h"
#include "base/arena.h"
#include "model/profile.h"

struct function_match {
	function_id function;
	int64_t exclusive, inclusive; /* of the first metric */
};

struct function_matches {
	/* By exclusive, then inclusive, both descending, then as the profile has them. */
	const struct function_match *items;
	size_t count;
	struct str nearest; /* where count is 0: a name that is much like it, or empty */
};

/* Lives in the arena; names are the profile's. */
must_use struct function_matches function_find(const struct profile *profile,
	const struct stack_weights *stacks, struct str name, struct arena *arena);

#endif
