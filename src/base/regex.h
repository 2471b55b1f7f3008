#ifndef SONDE_BASE_REGEX_H
#define SONDE_BASE_REGEX_H

/*
 * Regular expressions as Go has them (RE2's syntax, pkg.go.dev/regexp/syntax), for those that stand
 * in files: the time of a match is bounded by pattern × text, the memory by the pattern, whatever
 * they are.  libc's expressions are of another syntax, and take gigabytes for
 * "((a{1,255}){1,255})".
 *
 * Not supported, and told so: classes of Unicode ("\pL"), the flag m, letters outside ASCII under
 * the flag i, single bytes ("\C"), and more than REGEX_STEPS_MAX steps of a program.
 */

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

struct regex;

#define REGEX_STEPS_MAX 10000

/* ERROR_INPUT where it is no regular expression, ERROR_UNSUPPORTED where it is one of the above. */
must_use struct error *regex_create(struct str pattern, struct regex **regex);
void regex_destroy(struct regex *regex);
/*
 * Whether the whole text matches.  *work, how many steps may be taken, goes down by those that
 * were, and by half the program for getting ready; at 0 nothing matches.
 */
bool regex_matches(const struct regex *regex, struct str text, uint64_t *work);

#endif
