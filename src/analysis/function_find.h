#ifndef SONDE_ANALYSIS_FUNCTION_FIND_H
#define SONDE_ANALYSIS_FUNCTION_FIND_H

/*
 * The functions that a person means by a name: "eval", "lisp`eval" for one module's, "eval.c`eval"
 * for one file's.
 *
 * These are the functions with that whole name or whole alias; if there are none, those with that
 * name without arguments (`parse` for `parse(int)`); if there are none, without arguments and scope
 * (`parse` for `json::reader<char>::parse(int)`).  "@3f29ac01d7" is the function with that id
 * (analysis/entity_id.h).
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
	struct str nearest; /* if count is 0: a similar name, or empty */
};

/* Lives in the arena; names are the profile's. */
must_use struct function_matches function_find(const struct profile *profile,
	const struct stack_weights *stacks, struct str name, struct arena *arena);

#endif
