#ifndef SONDE_TESTS_SLOW_TEXT_PROFILE_H
#define SONDE_TESTS_SLOW_TEXT_PROFILE_H

/*
 * Profiles written down as text, and call trees printed as text, so that a test reads like the
 * worked examples of the manuals.
 */

#include "analysis/calltree.h"
#include "model/profile.h"

/*
 * One stack a line: frames root first, separated by blanks, each `name` or `module:name`; the last
 * word is the weight.  The caller's, freed with profile_destroy.
 */
must_use struct profile *text_profile(const char *lines);

/*
 * A profile of one stack: function names[i] at depth i + 1, with the given weight.  The caller's.
 */
must_use struct profile *chain_profile(
	const char *const *names, const uint32_t *chain, size_t depth, int64_t weight);

/*
 * Pre-order, one row after another as "name direct in_only", with " | " between rows and a '-'
 * before the name for each level above; direct is "1", "1(2)" or "0(1)" as semantics.md shows it.
 * A stub is "name...>k", k its target's row.  Lives in out.
 */
const char *text_calltree(const struct calltree *tree, struct strbuf *out);

#endif
